import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { RunConfig } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import {
  END_TURN,
  type Script,
  type ScriptedTurn,
  untilCancelled,
} from "../../../../support/scripted-agents.ts";

const MINUTE_MS = 60_000;

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

async function aRunOf(script: Script, config: RunConfig = {}): Promise<RunId> {
  harness.agents.scripts.push(script);
  await harness.start();
  const { id } = await harness.create({ config });
  await quiet();
  return id;
}

async function endOf(id: RunId): Promise<unknown> {
  const { state, statusMessage } = await harness.run(id);
  expect(statusMessage?.errorCode).toBe("resource_unavailable");
  return [state, statusMessage?.reason, statusMessage?.message];
}

describe("an inactive agent", () => {
  test("an inactive agent is asked to stop and then given up with its own reason", async () => {
    const cancelled: boolean[] = [];
    const id = await aRunOf((turn) => {
      turn.cancelled.addEventListener("abort", () => cancelled.push(true), { once: true });
      return new Promise(() => undefined);
    });
    await harness.clock.advance(LIMITS.inactivityMs - 1);
    expect((await harness.run(id)).state).toBe("INPROGRESS");

    await harness.clock.advance(1);
    expect(cancelled).toEqual([true]);
    expect(harness.agents.open).toBe(1);
    await harness.clock.advance(5_000);

    expect(await endOf(id)).toEqual([
      "ERROR",
      "infrastructure_timeout",
      "The agent reported nothing for 15 minutes.",
    ]);
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
  });

  test.each<[string, "pending" | "in_progress"]>([
    ["that was announced", "pending"],
    ["that runs", "in_progress"],
  ])("a silent tool call %s has the time limit of the turn", async (_which, status) => {
    const id = await aRunOf((turn) => {
      turn.observer.update({ kind: "agent.tool_call", toolCallId: "build", status });
      return untilCancelled(turn);
    });

    await harness.clock.advance(3 * LIMITS.inactivityMs);
    expect((await harness.run(id)).state).toBe("INPROGRESS");
    await harness.clock.advance(LIMITS.turnMs);

    expect(await endOf(id)).toEqual([
      "ERROR",
      "infrastructure_timeout",
      expect.stringContaining("The turn took longer than"),
    ]);
  });

  test.each(["completed", "failed"] as const)(
    "an agent that is silent after its tool call %s is given up",
    async (status) => {
      const id = await aRunOf((turn) => {
        const { observer } = turn;
        const build = { kind: "agent.tool_call", toolCallId: "build" } as const;
        observer.update({ ...build, status: "in_progress" });
        harness.clock.after(LIMITS.inactivityMs + 1_000, () => observer.update({ ...build, status }));
        return untilCancelled(turn);
      });
      await harness.clock.advance(2 * LIMITS.inactivityMs);
      expect((await harness.run(id)).state).toBe("INPROGRESS");

      await harness.clock.advance(1_000 + LEASE_MS);

      expect(await endOf(id)).toContain("The agent reported nothing for 15 minutes.");
    },
  );

  test("a tool call that an earlier turn left open does not extend the next turn", async () => {
    const id = await aRunOf(async ({ observer }) => {
      observer.update({ kind: "agent.tool_call", toolCallId: "build", status: "in_progress" });
      return END_TURN;
    });
    harness.agents.scripts.push(untilCancelled);
    await harness.followUp(id, "more");
    await quiet();

    await harness.clock.advance(LIMITS.inactivityMs + LEASE_MS);

    expect(await endOf(id)).toContain("The agent reported nothing for 15 minutes.");
  });

  test.each<[string, (turn: ScriptedTurn) => void]>([
    ["words", (turn) => turn.say("still here")],
    ["a model call", () => harness.gateways.last.call({ totalTokens: 1 })],
  ])("the agent is active as long as it sends: %s", async (_what, sign) => {
    const turns: ScriptedTurn[] = [];
    const id = await aRunOf((turn) => {
      turns.push(turn);
      return untilCancelled(turn);
    });

    for (let times = 0; times < 3; times += 1) {
      await harness.clock.advance(LIMITS.inactivityMs - 1_000);
      for (const turn of turns) {
        sign(turn);
      }
    }

    expect((await harness.run(id)).state).toBe("INPROGRESS");
    await harness.clock.advance(LIMITS.inactivityMs + 1_000);
    expect((await harness.run(id)).state).toBe("ERROR");
  });

  test("an agent is not inactive while it waits for a person, and its time restarts afterwards", async () => {
    const asks: Script = async (turn) => {
      await turn.observer.permission({
        permissionId: "p",
        title: "May I?",
        options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
      });
      return untilCancelled(turn);
    };
    const id = await aRunOf(asks, { idle_timeout_minutes: 60 });
    await harness.clock.advance(MINUTE_MS);
    harness.gateways.last.call({ totalTokens: 1 });
    await harness.clock.advance(2 * LIMITS.inactivityMs);
    expect((await harness.run(id)).state).toBe("BLOCKED");
    await harness.followUp(id, "yes");

    await harness.clock.advance(LIMITS.inactivityMs - 1_000);
    expect((await harness.run(id)).state).toBe("INPROGRESS");
    await harness.clock.advance(2_000);

    expect(await endOf(id)).toContain("infrastructure_timeout");
  });

  test("an agent between two turns is not inactive", async () => {
    const id = await aRunOf(async () => END_TURN);
    await harness.clock.advance(2 * LIMITS.inactivityMs);

    expect((await harness.run(id)).state).toBe("SUCCEEDED");
    expect(harness.clock.pending).toBe(0);
  });
});

/** Scripts an agent that shows activity now and then without end. */
function busy(turn: ScriptedTurn): ReturnType<Script> {
  harness.clock.every(MINUTE_MS, () => turn.say("."));
  return untilCancelled(turn);
}

test("a turn that takes too long ends with its own reason", async () => {
  const id = await aRunOf(busy);

  await harness.clock.advance(LIMITS.turnMs + 1_000);

  expect(await endOf(id)).toEqual([
    "ERROR",
    "infrastructure_timeout",
    "The turn took longer than 120 minutes, which is the limit here.",
  ]);
});

test("the time of waiting for a person does not count for the turn", async () => {
  const id = await aRunOf(async (turn) => {
    harness.clock.every(MINUTE_MS, () => turn.say("."));
    await turn.observer.permission({ permissionId: "p", title: "?", options: [] });
    return untilCancelled(turn);
  });
  await harness.clock.advance(9 * MINUTE_MS);
  await harness.followUp(id, "no");

  await harness.clock.advance(LIMITS.turnMs - MINUTE_MS);
  expect((await harness.run(id)).state).toBe("INPROGRESS");
  await harness.clock.advance(2 * MINUTE_MS);
  expect((await harness.run(id)).state).toBe("ERROR");
});

test.each([1, -1])("a wall clock that jumps by %i day does not change the time of a turn", async (days) => {
  const id = await aRunOf(async (turn) => {
    harness.clock.every(MINUTE_MS, () => turn.say("."));
    await new Promise<void>((resolve) => harness.clock.after(4 * MINUTE_MS, resolve));
    await turn.observer.permission({ permissionId: "p", title: "?", options: [] });
    return untilCancelled(turn);
  });
  await harness.clock.advance(MINUTE_MS);
  harness.clock.jump(days * 24 * 60 * MINUTE_MS);
  await harness.clock.advance(3 * MINUTE_MS);
  await harness.followUp(id, "no");

  await harness.clock.advance(LIMITS.turnMs - 5 * MINUTE_MS);
  expect((await harness.run(id)).state).toBe("INPROGRESS");
  await harness.clock.advance(2 * MINUTE_MS);

  expect((await harness.run(id)).state).toBe("ERROR");
});

test("an attempt that takes too long ends its run with its own reason", async () => {
  const turnMs = 100 * MINUTE_MS;
  const aTurn: Script = async (turn) => {
    harness.clock.every(MINUTE_MS, () => turn.say("."));
    await new Promise<void>((resolve) => harness.clock.after(turnMs, resolve));
    return END_TURN;
  };
  harness.agents.scripts.push(aTurn, aTurn, aTurn);
  const id = await aRunOf(aTurn);
  // Each turn is within its limit, but together they exceed the limit of the attempt.
  for (let turns = 0; turns < 3; turns += 1) {
    await harness.followUp(id, "more");
    await harness.clock.advance(turnMs);
  }
  expect((await harness.run(id)).state).toBe("INPROGRESS");

  await harness.clock.advance(LIMITS.attemptMs - 3 * turnMs + LEASE_MS);

  expect(await endOf(id)).toEqual([
    "ERROR",
    "infrastructure_timeout",
    "The run was worked on for 360 minutes without a break, which is the limit here.",
  ]);
});

test("the time limit of an attempt includes the preparation and aborts it", async () => {
  harness.workspaces.gates.push(
    (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      }),
  );
  await harness.start();
  const { id } = await harness.create();
  await quiet();

  await harness.clock.advance(LIMITS.attemptMs);

  expect(await endOf(id)).toEqual([
    "ERROR",
    "infrastructure_timeout",
    "The run was worked on for 360 minutes without a break, which is the limit here.",
  ]);
  expect(await harness.run(id)).not.toHaveProperty("lease");
});

test("a run stopped by a limit is resumed by a follow-up that came meanwhile", async () => {
  const id = await aRunOf(untilCancelled);
  await harness.followUp(id, "more");

  await harness.clock.advance(LIMITS.inactivityMs + LEASE_MS);

  expect(harness.agents.prompts.at(-1)).toBe("more");
  expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
});

test("a limit that is reached during a cancel leaves the run cancelled", async () => {
  const id = await aRunOf(() => new Promise(() => undefined));
  await harness.clock.advance(LIMITS.inactivityMs - 1);

  await harness.cancel(id);
  await harness.clock.advance(10_000);

  expect((await harness.run(id)).state).toBe("CANCELLED");
  expect(harness.clock.pending).toBe(0);
});

test("a worker that stops while its run reaches a limit ends the run by the limit", async () => {
  harness.agents.scripts.push(() => new Promise(() => undefined));
  const { id } = await harness.create();
  const stop = new AbortController();
  const working = harness.worker().work(id, stop.signal);
  await quiet();
  await harness.clock.advance(LIMITS.inactivityMs + 1_000);

  stop.abort();
  await harness.clock.advance(LEASE_MS);
  await working;

  expect(await endOf(id)).toContain("infrastructure_timeout");
});

test("a limit that is reached before a turn begins prevents the turn", async () => {
  harness.changes.markGates.push(new Promise(() => undefined));
  await harness.start();
  const provenance = { repository: { full_name: "acme/widgets" } };
  const { id } = await harness.create({ provenance });
  await quiet();

  await harness.clock.advance(LIMITS.attemptMs + LEASE_MS);

  expect(await endOf(id)).toContain("infrastructure_timeout");
  expect(await harness.run(id)).toMatchObject({ turn: 0 });
  expect(harness.agents.prompts).toEqual([]);
});
