import { beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreBench, LEASE_MS, LIMITS } from "../../../support/core-bench.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type Script, type ScriptedTurn } from "../../../support/scripted-agents.ts";

const MEBIBYTE = 2 ** 20;

let bench: CoreBench;
beforeEach(async () => {
  bench = new CoreBench();
  await bench.start(bench.worker({ settings: { ...LIMITS, logMib: 1, pullRequests: "draft" } }));
});

async function aRunOf(...scripts: readonly Script[]): Promise<RunId> {
  bench.agents.scripts.push(...scripts);
  const { id } = await bench.create();
  await quiet();
  return id;
}

function tell({ observer }: ScriptedTurn, mebibytes: number): void {
  const title = "x".repeat(10_000);
  const calls = Math.round((mebibytes * MEBIBYTE) / 10_300);
  for (let count = 0; count < calls; count += 1)
    observer.update({ kind: "agent.tool_call", toolCallId: `${count}`, title });
}

async function storedBy(id: RunId): Promise<number> {
  const bodies = (await bench.events(id)).map(({ body }) => body);
  return JSON.stringify(bodies.filter(({ kind }) => kind === "agent.tool_call")).length;
}

test("an agent that writes more than the log takes is stopped, and nothing more is stored of it", async () => {
  let isCancelled = false;
  const id = await aRunOf(async (turn) => {
    turn.cancelled.addEventListener("abort", () => {
      isCancelled = true;
    });
    tell(turn, 1.5);
    bench.clock.every(100, () => tell(turn, 0.1));
    return new Promise(() => undefined);
  });

  await bench.clock.advance(100);
  expect(isCancelled).toBe(true);
  await bench.clock.advance(LEASE_MS);

  expect(await bench.run(id)).toMatchObject({
    state: "FAILED",
    statusMessage: {
      errorCode: "budget_exceeded",
      message: "The run's log is full: one attempt may write 1 MiB to it.",
      retryable: false,
    },
  });
  expect(await storedBy(id)).toBeLessThan(MEBIBYTE);
  expect(await storedBy(id)).toBeGreaterThan(0.9 * MEBIBYTE);
  expect(bench.agents.open).toBe(0);
});

test("many small events are not free", async () => {
  const id = await aRunOf(async ({ observer }) => {
    for (let used = 0; used < 6_000; used += 1)
      observer.update({ kind: "agent.usage", used: used % 10, size: 1 });
    return new Promise(() => undefined);
  });

  await bench.clock.advance(LEASE_MS);

  expect((await bench.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});

test("a log is filled by all turns of an attempt", async () => {
  const half: Script = async (turn) => {
    tell(turn, 0.6);
    await new Promise<void>((resolve) => bench.clock.after(1_000, resolve));
    return END_TURN;
  };
  const id = await aRunOf(half, half);
  await bench.followUp(id, "more");
  await bench.clock.advance(1_000);
  expect((await bench.run(id)).state).toBe("INPROGRESS");

  await bench.clock.advance(LEASE_MS);

  expect((await bench.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});

test("the next attempt has room again", async () => {
  const id = await aRunOf(async (turn) => {
    tell(turn, 1.5);
    return new Promise(() => undefined);
  });
  await bench.clock.advance(LEASE_MS);
  expect((await bench.run(id)).state).toBe("FAILED");

  await bench.followUp(id, "be brief");
  await bench.clock.advance(1_000);

  expect((await bench.run(id)).state).toBe("SUCCEEDED");
});

test("a run whose environment says too much fails by the same limit", async () => {
  const output = "x".repeat(100_000);
  bench.workspaces.steps.push(
    ...Array.from({ length: 15 }, (_, step) => {
      const about = { kind: "workspace.step", title: "npm ci", status: "completed" } as const;
      return { ...about, stepId: `${step}`, output };
    }),
  );
  const id = await aRunOf();

  await bench.clock.advance(LEASE_MS);

  expect((await bench.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});
