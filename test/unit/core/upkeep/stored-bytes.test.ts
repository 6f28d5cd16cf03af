import { expect, test } from "vitest";
import { cachedStoredBytes, storedBytesCheck } from "../../../../src/core/upkeep/stored-bytes.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const NOTHING = {
  checkpoints: 0,
  checkpoints_of_ended_runs: 0,
  inputs: 0,
  artifacts: 0,
  changes: 0,
  events: 0,
};

test("callers of one minute share a measurement, and a later caller has it measured again", async () => {
  const clock = new ManualClock();
  const figures = [1, 2, 3];
  const storedBytes = cachedStoredBytes(async () => ({ ...NOTHING, events: figures.shift() ?? 0 }), clock);

  const atOnce = await Promise.all([storedBytes(), storedBytes(), storedBytesCheck(storedBytes).run()]);
  await clock.advance(59_999);
  const later = await storedBytes();
  await clock.advance(1);
  const nextMinute = await Promise.all([storedBytes(), storedBytes()]);

  expect([atOnce[0], atOnce[1], later].map(({ events }) => events)).toEqual([1, 1, 1]);
  expect(nextMinute.map(({ events }) => events)).toEqual([2, 2]);
});

test("a failed measurement is made again for the next caller", async () => {
  const measurements = [Promise.reject(new Error("The database is gone.")), Promise.resolve(NOTHING)];
  const storedBytes = cachedStoredBytes(
    () => measurements.shift() ?? Promise.resolve(NOTHING),
    new ManualClock(),
  );

  await expect(Promise.all([storedBytes(), storedBytes()])).rejects.toThrow("The database is gone.");

  expect(await storedBytes()).toEqual(NOTHING);
});
