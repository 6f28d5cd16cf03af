import { beforeEach, expect, test } from "vitest";
import { MEBIBYTE } from "../../../../../src/core/basics/byte-units.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type Script, type ScriptedTurn } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start(harness.worker({ settings: { ...LIMITS, logMib: 1, pullRequests: "draft" } }));
});

async function aRunOf(...scripts: readonly Script[]): Promise<RunId> {
  harness.agents.scripts.push(...scripts);
  const { id } = await harness.create();
  await quiet();
  return id;
}

function report({ observer }: ScriptedTurn, mebibytes: number): void {
  const title = "x".repeat(10_000);
  const calls = Math.round((mebibytes * MEBIBYTE) / 10_300);
  for (let count = 0; count < calls; count += 1) {
    observer.update({ kind: "agent.tool_call", toolCallId: `${count}`, title });
  }
}

async function storedBy(id: RunId): Promise<number> {
  const bodies = (await harness.events(id)).map(({ body }) => body);
  return JSON.stringify(bodies.filter(({ kind }) => kind === "agent.tool_call")).length;
}

test("an agent that exceeds the log limit is stopped, and nothing more of it is stored", async () => {
  let isCancelled = false;
  const id = await aRunOf(async (turn) => {
    turn.cancelled.addEventListener("abort", () => {
      isCancelled = true;
    });
    report(turn, 1.5);
    harness.clock.every(100, () => report(turn, 0.1));
    return new Promise(() => undefined);
  });

  await harness.clock.advance(100);
  expect(isCancelled).toBe(true);
  await harness.clock.advance(LEASE_MS);

  expect(await harness.run(id)).toMatchObject({
    state: "FAILED",
    statusMessage: {
      errorCode: "budget_exceeded",
      message: "The run's log is full: one attempt may write 1 MiB to it.",
      retryable: false,
    },
  });
  expect(await storedBy(id)).toBeLessThan(MEBIBYTE);
  expect(await storedBy(id)).toBeGreaterThan(0.9 * MEBIBYTE);
  expect(harness.agents.open).toBe(0);
});

test("many small events count towards the log limit", async () => {
  const id = await aRunOf(async ({ observer }) => {
    for (let used = 0; used < 6_000; used += 1) {
      observer.update({ kind: "agent.usage", used: used % 10, size: 1 });
    }
    return new Promise(() => undefined);
  });

  await harness.clock.advance(LEASE_MS);

  expect((await harness.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});

test("the log limit counts all turns of an attempt", async () => {
  const half: Script = async (turn) => {
    report(turn, 0.6);
    await new Promise<void>((resolve) => harness.clock.after(1_000, resolve));
    return END_TURN;
  };
  const id = await aRunOf(half, half);
  await harness.followUp(id, "more");
  await harness.clock.advance(1_000);
  expect((await harness.run(id)).state).toBe("INPROGRESS");

  await harness.clock.advance(LEASE_MS);

  expect((await harness.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});

test("the log limit starts again with the next attempt", async () => {
  const id = await aRunOf(async (turn) => {
    report(turn, 1.5);
    return new Promise(() => undefined);
  });
  await harness.clock.advance(LEASE_MS);
  expect((await harness.run(id)).state).toBe("FAILED");

  await harness.followUp(id, "be brief");
  await harness.clock.advance(1_000);

  expect((await harness.run(id)).state).toBe("SUCCEEDED");
});

test("a run whose environment writes too much fails by the same limit", async () => {
  const output = "x".repeat(100_000);
  harness.workspaces.steps.push(
    ...Array.from({ length: 15 }, (_, step) => {
      const about = { kind: "workspace.step", title: "npm ci", status: "completed" } as const;
      return { ...about, stepId: `${step}`, output };
    }),
  );
  const id = await aRunOf();

  await harness.clock.advance(LEASE_MS);

  expect((await harness.run(id)).statusMessage?.errorCode).toBe("budget_exceeded");
});
