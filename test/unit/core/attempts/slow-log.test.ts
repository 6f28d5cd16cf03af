import { beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreBench, LEASE_MS } from "../../../support/core-bench.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type Script } from "../../../support/scripted-agents.ts";

const COUNT = 5_000;

let bench: CoreBench;
let told: number;
beforeEach(() => {
  bench = new CoreBench();
  told = 0;
});

/** Tells as fast as it is let. */
const floods: Script = async ({ observer }) => {
  for (; told < COUNT; told += 1) {
    await observer.room();
    observer.update({ kind: "agent.tool_call", toolCallId: `${told}`, title: "x".repeat(1_000) });
  }
  return END_TURN;
};

async function aFloodedRun(): Promise<RunId> {
  bench.agents.scripts.push(floods);
  await bench.start();
  const { id } = await bench.create();
  await quiet();
  return id;
}

test("an agent that tells faster than is stored waits, and all it tells is stored", async () => {
  const id = await aFloodedRun();
  expect(told).toBeGreaterThan(100);
  expect(told).toBeLessThan(1_000);

  await bench.clock.advance(1_000);

  expect((await bench.run(id)).state).toBe("SUCCEEDED");
  const calls = (await bench.events(id)).filter(({ body }) => body.kind === "agent.tool_call");
  expect(calls).toHaveLength(COUNT);
});

test("an agent waits for a database that is away as long as it is tried, and no longer", async () => {
  const id = await aFloodedRun();
  bench.faults.isAway = true;
  await bench.clock.advance(50_000);
  expect(told).toBeLessThan(1_000);

  await bench.clock.advance(15_000);
  expect(told).toBe(COUNT);
  bench.faults.isAway = false;
  await bench.clock.advance(LEASE_MS);

  expect(await bench.run(id)).toMatchObject({
    state: "ERROR",
    statusMessage: { errorCode: "resource_unavailable" },
  });
  expect([bench.agents.open, bench.clock.pending]).toEqual([0, 0]);
});

test("an agent that waits is cancelled", async () => {
  const stored = Promise.withResolvers<void>();
  const id = await aFloodedRun();
  bench.faults.gates.push(stored.promise);
  await bench.clock.advance(50);

  await bench.cancel(id);
  await bench.clock.advance(5_000);
  expect(bench.agents.open).toBe(0);
  stored.resolve();
  await bench.clock.advance(1_000);

  expect((await bench.run(id)).state).toBe("CANCELLED");
  expect(await bench.run(id)).not.toHaveProperty("lease");
});
