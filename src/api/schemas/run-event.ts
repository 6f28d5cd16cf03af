import { z } from "zod";
import { RUN_EVENT_EXAMPLE } from "./run-examples.ts";
import { Timestamp } from "./text.ts";

const RunEvent = z
  .looseObject({
    seq: z.int().describe("1, 2, 3 … without holes."),
    turn: z.int().describe("The turn it belongs to; 0 before the first."),
    at: Timestamp.describe("When it was committed."),
    kind: z.string().describe("What happened; new kinds may come. The other members are the kind's own."),
  })
  .meta({
    id: "RunEvent",
    description: "One line of a run's log.",
    examples: [RUN_EVENT_EXAMPLE],
  });

export type EventJson = z.output<typeof RunEvent>;

export const RunEventPage = z
  .object({
    events: z.array(RunEvent).describe("In the order of their numbers."),
    next_after: z.int().describe("`after` of the next page."),
  })
  .meta({
    id: "RunEventPage",
    description: "A page of a run's log.",
    examples: [{ events: [RUN_EVENT_EXAMPLE], next_after: 2 }],
  });
export type RunEventPage = z.output<typeof RunEventPage>;

const LoggedEvent = RunEvent.extend({
  run_id: z.uuid().describe("Whose event it is."),
  cursor: z.string().describe("`after` of what comes behind it."),
}).meta({
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
