import { expect, test } from "vitest";
import { Slots } from "../../../../../src/core/work/slots/slots.ts";
import { quiet } from "../../../../support/manual-clock.ts";

const NEVER = new AbortController().signal;

function open(count: number) {
  const state = { freed: 0 };
  const slots = new Slots(count, () => {
    state.freed += 1;
  });
  const begin = () => {
    slots.take(1);
    return slots.slotOfJob();
  };
  return { slots, state, begin };
}

test("a slot that is given back is free, once", () => {
  const { begin, slots, state } = open(2);
  const slot = begin();

  slot.release();
  slot.release();
  slot.end();

  expect([slots.free, state.freed]).toEqual([2, 1]);
});

test("a free slot goes to the handler that waits longest, and to no new job", async () => {
  const { begin, slots, state } = open(2);
  const [first, second] = [begin(), begin()];
  first.release();
  second.release();
  const [third, fourth] = [begin(), begin()];
  const got: string[] = [];
  void first.reacquire(NEVER).then(() => got.push("first"));
  void second.reacquire(NEVER).then(() => got.push("second"));
  state.freed = 0;

  third.end();
  await quiet();
  expect([got, slots.free]).toEqual([["first"], 0]);
  fourth.end();
  await quiet();

  expect([got, slots.free, state.freed]).toEqual([["first", "second"], 0, 0]);
});

test("a handler that has its slot, or asks twice for it, has one", async () => {
  const { begin, slots } = open(2);
  const slot = begin();
  await slot.reacquire(NEVER);
  expect(slots.free).toBe(1);
  slot.release();

  await Promise.all([slot.reacquire(NEVER), slot.reacquire(NEVER)]);

  expect(slots.free).toBe(1);
  slot.end();
  expect(slots.free).toBe(2);
});

test.each(["aborted", "ended"] as const)("a handler that is %s while it waits takes no slot", async (how) => {
  const { begin, slots } = open(1);
  const abort = new AbortController();
  const waiting = begin();
  waiting.release();
  const other = begin();
  const reacquired = waiting.reacquire(abort.signal);

  if (how === "aborted") {
    abort.abort();
  } else {
    waiting.end();
  }
  await reacquired;
  other.end();

  expect(slots.free).toBe(1);
  await waiting.reacquire(AbortSignal.abort());
  expect(slots.free).toBe(1);
});

test("slots that were taken for jobs that did not come go to handlers that wait, and wake nobody", async () => {
  const { begin, slots, state } = open(3);
  const slot = begin();
  slot.release();
  state.freed = 0;
  slots.take(3);
  const reacquired = slot.reacquire(NEVER);

  slots.returnUnused(3);
  await reacquired;

  expect([slots.free, state.freed]).toEqual([2, 0]);
});
