import { keysOf } from "../../basics/keys-of.ts";
import type { RunEvent, RunEventKind } from "../../model/runs/events.ts";

const IS_SHOWN: Readonly<Record<RunEventKind, boolean>> = {
  "run.created": true,
  "run.state": true,
  "run.updated": true,
  "attempt.started": true,
  "attempt.ended": true,
  "workspace.step": true,
  "workspace.ready": true,
  "workspace.stored": true,
  "workspace.not_stored": true,
  "changes.not_kept": true,
  "turn.started": true,
  "turn.ended": true,
  "turn.rated": true,
  "followup.received": true,
  "followup.edited": true,
  "followup.withdrawn": true,
  "followup.steered": true,
  "permission.requested": true,
  "permission.answered": true,
  "approval.requested": true,
  "approval.decided": true,
  "notice.dead": true,
  "thread.bound": true,
  "artifact.added": true,
  "artifact.left_out": true,
  "agent.started": true,
  "agent.message": false,
  "agent.thought": false,
  "agent.tool_call": false,
  "agent.plan": false,
  "agent.usage": false,
  "agent.title": false,
  "agent.notice": false,
  "agent.permission_granted": false,
  "agent.other": false,
};

/** The events of a run except what its agent said and did. */
export const TIMELINE_KINDS = keysOf(IS_SHOWN).filter((kind) => IS_SHOWN[kind]);

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
