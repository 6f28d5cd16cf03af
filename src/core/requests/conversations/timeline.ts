import type { RunEvent, RunEventKind } from "../../model/runs/events.ts";

/** The events of which a timeline consists, and those that say to which attempt they belong. */
export const TIMELINE_KINDS = [
  "run.created",
  "run.state",
  "workspace.ready",
  "agent.started",
  "attempt.started",
  "attempt.ended",
] as const satisfies readonly RunEventKind[];

export interface TimelineEntry {
  readonly event: RunEvent;
  /** The attempt of the event. Undefined for events between attempts. */
  readonly attempt?: number;
}

/** Adds the attempt to each event. The pages must contain all events of `TIMELINE_KINDS` in order. */
export async function* timelineOf(pages: AsyncIterable<readonly RunEvent[]>): AsyncGenerator<TimelineEntry> {
  let [attempts, isOpen] = [0, false];
  for await (const page of pages) {
    for (const event of page) {
      const { body } = event;
      // An attempt starts when the run is claimed, and that event precedes the attempt's own first event.
      if (body.kind === "run.state" && body.to === "PENDING") {
        [attempts, isOpen] = [attempts + 1, true];
      }
      if (body.kind === "attempt.started") {
        attempts = body.attempt;
      }
      yield isOpen ? { event, attempt: attempts } : { event };
      if (body.kind === "attempt.ended") {
        isOpen = false;
      }
    }
  }
}
