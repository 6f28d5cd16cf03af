import type { RunEvent, RunEventKind } from "../runs/events.ts";

/** What happened to a run, without what its agent said and did. */
export const TIMELINE_KINDS = [
  "run.created",
  "run.state",
  "attempt.started",
  "attempt.ended",
  "workspace.step",
  "workspace.ready",
  "workspace.stored",
  "workspace.not_stored",
  "agent.started",
  "turn.started",
  "turn.ended",
  "followup.received",
  "followup.steered",
  "permission.requested",
  "permission.answered",
  "thread.bound",
  "artifact.added",
  "artifact.left_out",
  "changes.not_kept",
] as const satisfies readonly RunEventKind[];

export interface TimelineEntry {
  readonly event: RunEvent;
  /** The attempt it belongs to; undefined for what happens while nobody works on the run. */
  readonly attempt?: number;
}

/** A run's events, which must be all of `TIMELINE_KINDS` in their order, each with its attempt. */
export function* timelineOf(events: Iterable<RunEvent>): Generator<TimelineEntry> {
  let [attempts, isOpen] = [0, false];
  for (const event of events) {
    const { body } = event;
    // An attempt begins with the run being claimed, which stands ahead of its own first event.
    if (body.kind === "run.state" && body.to === "PENDING") [attempts, isOpen] = [attempts + 1, true];
    if (body.kind === "attempt.started") attempts = body.attempt;
    yield isOpen ? { event, attempt: attempts } : { event };
    if (body.kind === "attempt.ended") isOpen = false;
  }
}
