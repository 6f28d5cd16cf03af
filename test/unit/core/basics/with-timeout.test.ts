import { expect, test } from "vitest";
import { withTimeout } from "../../../../src/core/basics/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

test("work that ends in time returns its result and leaves no timer", async () => {
  const clock = new ManualClock();

  expect(await withTimeout(Promise.resolve("done"), 1_000, { clock })).toBe("done");
  expect(clock.pending).toBe(0);
});

test("work that fails in time throws its error and leaves no timer", async () => {
  const clock = new ManualClock();

  await expect(withTimeout(Promise.reject(new Error("no")), 1_000, { clock })).rejects.toThrow("no");
  expect(clock.pending).toBe(0);
});

test("work that takes too long returns undefined", async () => {
  const clock = new ManualClock();
  const result = withTimeout(new Promise<string>(() => {}), 1_000, { clock });

  await clock.advance(1_000);

  expect(await result).toBeUndefined();
});

test("work that takes too long throws what onTimeout throws", async () => {
  const clock = new ManualClock();
  const onTimeout = () => {
    throw new Error("late");
  };
  const result = expect(withTimeout(new Promise(() => {}), 1_000, { clock, onTimeout })).rejects.toThrow(
    "late",
  );

  await clock.advance(1_000);

  await result;
});

test("without a clock the timers of the process are used", async () => {
  expect(await withTimeout(new Promise(() => {}), 1, { onTimeout: () => "late" })).toBe("late");
});
