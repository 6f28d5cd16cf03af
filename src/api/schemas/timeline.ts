import { v5 } from "uuid";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { TimelineEntry } from "../../core/requests/conversations/timeline.ts";
import { membersWithApiNames } from "./event-names.ts";
import { Timestamp } from "./text.ts";

const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";
const EXAMPLE = {
  event_uuid: "1f0c2a52-6f0e-5b7a-9a83-0d5c2e7b1a64",
  run_id: RUN_ID,
  execution_id: "5e2b7c1d-3a4f-5e6d-8c9b-0a1b2c3d4e5f",
  event_type: "run.state",
  occurred_at: "2026-03-01T09:00:00.410Z",
  payload: { from: "QUEUED", to: "PENDING" },
};

const TimelineEvent = z.object({
  event_uuid: z.uuid().describe("An id that is the same at each read."),
  run_id: z.uuid().describe("The run's id."),
  execution_id: z
    .uuid()
    .optional()
    .describe("The attempt of a worker. Absent while no worker executes the run."),
  event_type: z.string().describe("What happened. New types may be added."),
  occurred_at: Timestamp.describe("When the event was stored."),
  payload: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The members of the type, as in `RunEvent`."),
});

export const RunTimeline = z
  .object({ events: z.array(TimelineEvent).describe("In the order in which they happened.") })
  .meta({
    id: "RunTimeline",
    description: "The history of a run, without the messages and actions of its agent.",
    examples: [{ events: [EXAMPLE] }],
  });
export type RunTimeline = z.output<typeof RunTimeline>;

export function timelineEventOf({ event, attempt }: TimelineEntry): z.output<typeof TimelineEvent> {
  const { runId, seq, at, body } = event;
  const { kind, ...payload } = body;
  return defined({
    event_uuid: nameUuid(`${runId}/${seq}`),
    run_id: runId,
    execution_id: attempt === undefined ? undefined : nameUuid(`${runId}/attempt/${attempt}`),
    event_type: kind,
    occurred_at: at.toISOString(),
    payload: Object.keys(payload).length === 0 ? undefined : membersWithApiNames(withoutWords(payload)),
  });
}

/** Removes the final answer of a turn, which may be long. The conversation contains it. */
function withoutWords(payload: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== "answer"));
}

/** No other file may create UUIDs in this namespace. */
const NAMESPACE = "8d5a6a3e-5f0c-4c1e-9b7d-e2a1f4c30917";

/** Gives the same UUID for the same name in every process (RFC 9562, version 5). */
export function nameUuid(name: string): string {
  return v5(name, NAMESPACE);
}
