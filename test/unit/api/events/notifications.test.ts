import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChangeSignal } from "../../../../src/api/events/notifications.ts";

const LONG_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether `waiting` resolves without any time passing. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false;
  void waiting.then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return over;
}

test("a notification without a waiter ends only the next wait, at once", async () => {
  const bell = new ChangeSignal();
  bell.notify();
  bell.notify();

  expect(await isOver(bell.wait(LONG_MS))).toBe(true);
  expect(await isOver(bell.wait(LONG_MS))).toBe(false);
});

test("a notification ends the current wait and leaves no timer", async () => {
  const bell = new ChangeSignal();
  const waiting = bell.wait(LONG_MS);

  expect(await isOver(waiting)).toBe(false);
  bell.notify();
  expect(await isOver(waiting)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a wait without a notification ends after its timeout", async () => {
  const waiting = new ChangeSignal().wait(LONG_MS);

  await vi.advanceTimersByTimeAsync(LONG_MS);

  expect(await isOver(waiting)).toBe(true);
});
