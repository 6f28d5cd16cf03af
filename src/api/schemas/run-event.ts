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
