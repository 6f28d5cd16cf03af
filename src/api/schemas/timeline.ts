import { v5 } from "uuid";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { RunEventKind } from "../../core/model/runs/events.ts";
import type { RunState } from "../../core/model/runs/states.ts";
import type { TimelineEntry } from "../../core/requests/conversations/timeline.ts";
import { membersWithApiNames } from "./event-names.ts";
import { Timestamp } from "./text.ts";

const EVENT_TYPES = [
  "oz_run_created",
  "oz_run_claimed",
  "worker_container_ready",
  "shared_session_started",
  "agent_started",
  "oz_run_done",
  "oz_run_blocked",
  "oz_run_cancelled",
  "oz_run_failed",
  "oz_run_errored",
  "vm_shutdown",
] as const;
type EventType = (typeof EVENT_TYPES)[number];

/** The other events of a run are only in its log. */
const TYPES: { readonly [Kind in RunEventKind]?: EventType } = {
  "run.created": "oz_run_created",
  "workspace.ready": "worker_container_ready",
  "agent.started": "agent_started",
  "attempt.ended": "vm_shutdown",
};
const TYPES_OF_STATES: { readonly [State in RunState]?: EventType } = {
  PENDING: "oz_run_claimed",
  BLOCKED: "oz_run_blocked",
  SUCCEEDED: "oz_run_done",
  FAILED: "oz_run_failed",
  ERROR: "oz_run_errored",
  CANCELLED: "oz_run_cancelled",
};

const EXAMPLE = {
  event_uuid: "1f0c2a52-6f0e-5b7a-9a83-0d5c2e7b1a64",
  run_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e",
  execution_id: 1,
  event_type: "oz_run_claimed" as const,
  occurred_at: "2026-03-01T09:00:00.410Z",
  payload: { from: "QUEUED", to: "PENDING" },
};

const TimelineEvent = z.object({
  event_uuid: z.uuid().describe("An id that is the same at each read."),
  run_id: z.uuid().describe("The run's id."),
  execution_id: z
    .int()
    .optional()
    .describe("The number of the attempt: 1, 2, 3 … Absent while no worker executes the run."),
  event_type: z
    .enum(EVENT_TYPES)
    .describe("What happened. The names are those of the public client; `GET …/events` has every event."),
  occurred_at: Timestamp.describe("When the event was stored."),
  payload: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The members of the event, as in `RunEvent`."),
});

export const RunTimeline = z
  .object({ events: z.array(TimelineEvent).describe("In the order in which they happened.") })
  .meta({
    id: "RunTimeline",
    description: "The steps of a run from its creation to its end.",
    examples: [{ events: [EXAMPLE] }],
  });
export type RunTimeline = z.output<typeof RunTimeline>;

/** Undefined: a timeline does not show this event. */
export function timelineEventOf({
  event,
  attempt,
}: TimelineEntry): z.output<typeof TimelineEvent> | undefined {
  const { runId, seq, at, body } = event;
  const { kind, ...payload } = body;
  const type = body.kind === "run.state" ? TYPES_OF_STATES[body.to] : TYPES[kind];
  if (type === undefined) {
    return undefined;
  }
  return defined({
    event_uuid: nameUuid(`${runId}/${seq}`),
    run_id: runId,
    execution_id: attempt,
    event_type: type,
    occurred_at: at.toISOString(),
    payload: Object.keys(payload).length === 0 ? undefined : membersWithApiNames(payload),
  });
}

/** No other file may create UUIDs in this namespace. */
const NAMESPACE = "8d5a6a3e-5f0c-4c1e-9b7d-e2a1f4c30917";

/** Gives the same UUID for the same name in every process (RFC 9562, version 5). */
export function nameUuid(name: string): string {
  return v5(name, NAMESPACE);
}
