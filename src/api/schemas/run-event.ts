import { z } from "zod";
import { RUN_EVENT_KINDS } from "./run-event-kinds.ts";
import { RUN_EVENT_EXAMPLE } from "./run-examples.ts";
import { Timestamp } from "./text.ts";

const COMMON = {
  seq: z.int().describe("1, 2, 3 …, without gaps."),
  turn: z.int().describe("The turn of the event. 0 before the first turn."),
  at: Timestamp.describe("When the event was committed."),
  run_id: z.uuid().optional().describe("The run of the event. Present only in the log of all runs."),
  cursor: z
    .string()
    .optional()
    .describe("The value of `after` that continues behind this event. Present only in the log of all runs."),
};

const known = Object.entries(RUN_EVENT_KINDS).map(([kind, { says, members }]) =>
  z.object({ ...COMMON, kind: z.literal(kind), ...members }).describe(`\`${kind}\`: ${says}`),
);
const later = z
  .looseObject({
    ...COMMON,
    kind: z
      .string()
      .meta({ description: "A kind that is not listed above.", not: { enum: Object.keys(RUN_EVENT_KINDS) } }),
  })
  .describe("New kinds with other members may be added. Clients should ignore kinds that they do not know.");

export interface EventJson {
  readonly seq: number;
  readonly turn: number;
  readonly at: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** The schema only documents responses, so the type need not contain the members of each kind. */
const RunEvent = (z.union([...known, later]) as unknown as z.ZodType<EventJson>).meta({
  id: "RunEvent",
  description:
    "An event in the log of a run. `kind` names what happened; further members depend on the kind.",
  examples: [RUN_EVENT_EXAMPLE],
});

export const RunEventPage = z
  .object({
    events: z.array(RunEvent).describe("Ordered by `seq`."),
    next_after: z
      .int()
      .describe("The value of `after` for the next page. It is unchanged if there are no newer events yet."),
  })
  .meta({
    id: "RunEventPage",
    description: "A page of a run's log.",
    examples: [{ events: [RUN_EVENT_EXAMPLE], next_after: 2 }],
  });
export type RunEventPage = z.output<typeof RunEventPage>;

const Place = z.looseObject({
  run_id: z.uuid().describe("The run of the event."),
  cursor: z.string().describe("The value of `after` that continues behind this event."),
});
const LoggedEvent = z.intersection(RunEvent, Place).meta({
  id: "LoggedEvent",
  description: "An event in the log of all runs.",
  examples: [{ ...RUN_EVENT_EXAMPLE, run_id: "0198f3a2-6c1e-7b90-8f53-2f1f6e0c9a11", cursor: "NzQxLi4u" }],
});
export type LoggedEventJson = z.output<typeof LoggedEvent>;

export const LoggedEventPage = z
  .object({
    events: z.array(LoggedEvent).describe("In the order of the log."),
    next_after: z.string().describe("The value of `after` for the next page."),
    has_more: z.boolean().describe("Whether the log already contains more events."),
  })
  .meta({
    id: "LoggedEventPage",
    description: "A page of the log of all runs.",
    examples: [{ events: [], next_after: "NzQxLi4u", has_more: false }],
  });
export type LoggedEventPage = z.output<typeof LoggedEventPage>;
