import { expect, test } from "vitest";
import { visibleLog } from "../../../../src/api/events/visible-log.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { RunEvent } from "../../../../src/core/model/runs/events.ts";

const RUN = "0197f3a2-0000-7000-8000-000000000001" as RunId;

test("of an event that only a newer version knows, guests see its kind and nothing else", async () => {
  const body = { kind: "newer.kind", secret: "the team's" };
  const event = { seq: 7, turn: 1, at: new Date(0), body } as unknown as RunEvent;
  const log = visibleLog(
    { readEvents: async () => [event], readEventsBefore: async () => [event] },
    "guests",
  );

  const seen = [...(await log.readEvents(RUN, 0, 10)), ...(await log.readEventsBefore(RUN, 9, 10))];

  expect(seen).toEqual(Array(2).fill({ ...event, body: { kind: "newer.kind" } }));
});
