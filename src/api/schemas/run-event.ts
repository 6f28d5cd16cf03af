import { z } from "zod";
import { RUN_EVENT_KINDS } from "./run-event-kinds.ts";
import { RUN_EVENT_EXAMPLE } from "./run-examples.ts";
import { Timestamp } from "./text.ts";

const COMMON = {
  seq: z.int().describe("1, 2, 3 … without holes."),
  turn: z.int().describe("The turn it belongs to; 0 before the first."),
  at: Timestamp.describe("When it was committed."),
  run_id: z.uuid().optional().describe("Whose event it is: told in the log of all runs."),
  cursor: z.string().optional().describe("`after` of what comes behind it: told in the log of all runs."),
};

const known = Object.entries(RUN_EVENT_KINDS).map(([kind, { says, members }]) =>
  z.object({ ...COMMON, kind: z.literal(kind), ...members }).describe(`\`${kind}\`: ${says}`),
);
const later = z
  .looseObject({
    ...COMMON,
    kind: z
      .string()
      .meta({ description: "None of those above.", not: { enum: Object.keys(RUN_EVENT_KINDS) } }),
  })
  .describe("New kinds may come, with members of their own. Ignore those that you do not know.");

export interface EventJson {
  readonly seq: number;
  readonly turn: number;
  readonly at: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** Only ever told, so that what is known of each kind need not be known to the compiler. */
const RunEvent = (z.union([...known, later]) as unknown as z.ZodType<EventJson>).meta({
  id: "RunEvent",
  description:
    "One line of a run's log: what happened is its `kind`, and the other members are the kind's own.",
  examples: [RUN_EVENT_EXAMPLE],
});

export const RunEventPage = z
  .object({
    events: z.array(RunEvent).describe("In the order of their numbers."),
    next_after: z
      .int()
      .describe("`after` of the next page; the same as was given when nothing is behind it yet."),
  })
  .meta({
    id: "RunEventPage",
    description: "A page of a run's log.",
    examples: [{ events: [RUN_EVENT_EXAMPLE], next_after: 2 }],
  });
export type RunEventPage = z.output<typeof RunEventPage>;

const Place = z.looseObject({
  run_id: z.uuid().describe("Whose event it is."),
  cursor: z.string().describe("`after` of what comes behind it."),
});
const LoggedEvent = z.intersection(RunEvent, Place).meta({
  id: "LoggedEvent",
  description: "One line of the log of all runs.",
  examples: [{ ...RUN_EVENT_EXAMPLE, run_id: "0198f3a2-6c1e-7b90-8f53-2f1f6e0c9a11", cursor: "NzQxLi4u" }],
});
export type LoggedEventJson = z.output<typeof LoggedEvent>;

export const LoggedEventPage = z
  .object({
    events: z.array(LoggedEvent).describe("In the order of the log."),
    next_after: z.string().describe("`after` of the next page."),
    has_more: z.boolean().describe("Whether the next page has something to look at already."),
  })
  .meta({
    id: "LoggedEventPage",
    description: "A page of the log of all runs.",
    examples: [{ events: [], next_after: "NzQxLi4u", has_more: false }],
  });
export type LoggedEventPage = z.output<typeof LoggedEventPage>;
