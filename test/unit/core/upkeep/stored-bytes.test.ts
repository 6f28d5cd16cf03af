import { expect, test } from "vitest";
import {
  type StoredBytes,
  StoredBytesMeter,
  storedBytesCheck,
} from "../../../../src/core/upkeep/stored-bytes.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const NOTHING: StoredBytes = {
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
  const meter = new StoredBytesMeter(async () => ({ ...NOTHING, events: figures.shift() ?? 0 }), clock);

  const atOnce = await Promise.all([meter.measured(), meter.measured(), storedBytesCheck(meter).run()]);
  await clock.advance(59_999);
  const later = await meter.measured();
  await clock.advance(1);
  const nextMinute = await Promise.all([meter.measured(), meter.measured()]);

  expect([atOnce[0], atOnce[1], later].map(({ events }) => events)).toEqual([1, 1, 1]);
  expect(nextMinute.map(({ events }) => events)).toEqual([2, 2]);
});

test("a failed measurement is made again for the next caller", async () => {
  const measurements = [Promise.reject(new Error("The database is gone.")), Promise.resolve(NOTHING)];
  const meter = new StoredBytesMeter(
    () => measurements.shift() ?? Promise.resolve(NOTHING),
    new ManualClock(),
  );

  await expect(Promise.all([meter.measured(), meter.measured()])).rejects.toThrow("The database is gone.");

  expect(await meter.measured()).toEqual(NOTHING);
});

test("the latest figures come at once with their age, and a measurement takes a thirtieth of the time", async () => {
  const clock = new ManualClock();
  const measurements: PromiseWithResolvers<StoredBytes>[] = [];
  const meter = new StoredBytesMeter(() => {
    const measurement = Promise.withResolvers<StoredBytes>();
    measurements.push(measurement);
    return measurement.promise;
  }, clock);

  const first = meter.latest;
  await clock.advance(10_000);
  measurements[0]?.resolve({ ...NOTHING, events: 1 });
  await meter.measured();
  await clock.advance(299_999);
  const young = meter.latest;
  await clock.advance(1);
  const old = meter.latest;

  expect(first).toBeUndefined();
  expect(young).toEqual({ stored: { ...NOTHING, events: 1 }, ageMs: 299_999 });
  expect(old).toEqual({ stored: { ...NOTHING, events: 1 }, ageMs: 300_000 });
  expect(measurements).toHaveLength(2);
});
