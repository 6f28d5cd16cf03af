import { z } from "zod";
import { Timestamp } from "./text.ts";

const RunEvent = z
  .looseObject({
    seq: z.int().describe("1, 2, 3 … without holes."),
    turn: z.int(),
    at: Timestamp,
    kind: z.string().describe("What happened; new kinds may come. The other members are the kind's own."),
  })
  .meta({ id: "RunEvent" });

export type EventJson = z.output<typeof RunEvent>;

export const RunEventPage = z
  .object({ events: z.array(RunEvent), next_after: z.int().describe("`after` of the next page.") })
  .meta({ id: "RunEventPage" });
export type RunEventPage = z.output<typeof RunEventPage>;
