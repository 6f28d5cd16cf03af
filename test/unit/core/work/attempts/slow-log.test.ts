import { beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type Script } from "../../../../support/scripted-agents.ts";

const COUNT = 5_000;
const MINUTE_MS = 60_000;

let harness: CoreHarness;
let updateCount: number;
beforeEach(() => {
  harness = new CoreHarness();
  updateCount = 0;
});

/** An agent that writes as fast as it is allowed to. */
const flood: Script = async ({ observer }) => {
  for (; updateCount < COUNT; updateCount += 1) {
    await observer.backpressure();
    observer.update({ kind: "agent.tool_call", toolCallId: `${updateCount}`, title: "x".repeat(1_000) });
  }
  return END_TURN;
};

async function aFloodedRun(): Promise<RunId> {
  harness.agents.scripts.push(flood);
  await harness.start();
  const { id } = await harness.create();
  await quiet();
  return id;
}

test("an agent that writes faster than events are stored waits, and all its output is stored", async () => {
  const id = await aFloodedRun();
  expect(updateCount).toBeGreaterThan(100);
  expect(updateCount).toBeLessThan(1_000);

  await harness.clock.advance(1_000);

  expect((await harness.run(id)).state).toBe("SUCCEEDED");
  const calls = (await harness.events(id)).filter(({ body }) => body.kind === "agent.tool_call");
  expect(calls).toHaveLength(COUNT);
});

test("a run whose database is unavailable for longer than the worker retries is continued by another attempt", async () => {
  const id = await aFloodedRun();
  harness.faults.isAway = true;
  await harness.clock.advance(14 * MINUTE_MS);
  expect(updateCount).toBeLessThan(1_000);

  await harness.clock.advance(2 * MINUTE_MS);
  expect(updateCount).toBe(COUNT);
  harness.faults.isAway = false;
  await harness.clock.advance(LEASE_MS);

  expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2, lostAttempts: 0 });
  expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
});

test("a waiting agent can be cancelled", async () => {
  const stored = Promise.withResolvers<void>();
  const id = await aFloodedRun();
  harness.faults.gates.push(stored.promise);
  await harness.clock.advance(50);

  await harness.cancel(id);
  await harness.clock.advance(5_000);
  expect(harness.agents.open).toBe(0);
  stored.resolve();
  await harness.clock.advance(1_000);

  expect((await harness.run(id)).state).toBe("CANCELLED");
  expect(await harness.run(id)).not.toHaveProperty("lease");
});
