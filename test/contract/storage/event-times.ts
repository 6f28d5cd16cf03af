import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { aChange } from "../../support/run-builders.ts";
import { wholeLog } from "../../support/whole-log.ts";
import { aStoredRun, type OpenStorage, type StorageHarness } from "./harness.ts";

const RUNS = 25;
const SECOND_MS = 1_000;
/** How far the clock moves before a write, and how many processes then write how many events each. */
const WRITES = fc.array(
  fc.record({
    passedMs: fc.integer({ min: -30 * SECOND_MS, max: 30 * SECOND_MS }),
    writers: fc.integer({ min: 1, max: 4 }),
    events: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Has a storage of its own, because it makes all events older again and again. */
export function describeEventTimes(open: OpenStorage): void {
  describe("the times of events", () => {
    let harness: StorageHarness;
    beforeAll(async () => {
      harness = await open();
    });
    afterAll(() => harness.close());

    const write = async (id: RunId, events: number) => {
      const event = { turn: 0, body: { kind: "workspace.ready", restored: false } } as const;
      await harness.storage.runs.change(id, ({ run }) =>
        aChange(run, { events: Array.from({ length: events }, () => event) }),
      );
    };

    test("the times of a run's events never go back, although the clock does and writers compete", async () => {
      await fc.assert(
        fc.asyncProperty(WRITES, async (writes) => {
          const { id } = await aStoredRun(harness);
          let expected = 1;
          for (const { events, passedMs, writers } of writes) {
            await harness.passTime(passedMs);
            await Promise.all(Array.from({ length: writers }, () => write(id, events)));
            expected += writers * events;
          }

          const times = (await wholeLog(harness.storage.runs, id)).map(({ at }) => at.getTime());

          expect(times).toHaveLength(expected);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
        }),
        { numRuns: RUNS },
      );
    });
  });
}
