import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { Budget } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import {
  END_TURN,
  type Script,
  type ScriptedTurn,
  untilCancelled,
} from "../../../../support/scripted-agents.ts";

const MINUTE_MS = 60_000;

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

async function aRunWith(budget: Budget, ...scripts: readonly Script[]): Promise<RunId> {
  harness.agents.scripts.push(...scripts);
  const { id } = await harness.create({ config: { budget } });
  await quiet();
  return id;
}

async function endOf(id: RunId): Promise<unknown> {
  const { state, statusMessage } = await harness.run(id);
  return [state, statusMessage?.errorCode, statusMessage?.message];
}

const HELD = " One follow-up was not given to the agent and is held.";

function exceeded(what: string, then = ""): unknown {
  return ["FAILED", "budget_exceeded", `The budget of this run is used up: ${what}.${then}`];
}

/** Scripts a turn that uses this much by the gateway's count and then continues. */
function takes(usage: { totalTokens?: number; costUsd?: number }): Script {
  return (turn) => {
    harness.gateways.last.call(usage);
    return untilCancelled(turn);
  };
}

function says(costUsd: number, totalTokens: number): Script {
  return async ({ observer }: ScriptedTurn) => {
    observer.update({ kind: "agent.usage", used: 1, size: 2, costUsd });
    return { ...END_TURN, usage: { inputTokens: 0, outputTokens: totalTokens, totalTokens } };
  };
}

describe("a budget", () => {
  test("a token budget stops the turn that exceeds it and every later model call", async () => {
    const id = await aRunWith({ max_tokens: 100 }, takes({ totalTokens: 101 }));

    expect(await endOf(id)).toEqual(exceeded("101 of 100 tokens"));
    expect(harness.gateways.last.shutReasons).toEqual([
      "The budget of this run is used up: 101 of 100 tokens.",
    ]);
    expect(await harness.run(id)).toMatchObject({ totalTokens: 101 });
    expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
  });

  test("a turn that uses exactly the budget may end normally", async () => {
    const id = await aRunWith({ max_tokens: 100, max_cost_usd: 0.5 }, async () => {
      harness.gateways.last.call({ totalTokens: 100, costUsd: 0.5 });
      return END_TURN;
    });

    expect((await harness.run(id)).state).toBe("SUCCEEDED");
    expect(harness.gateways.last.shutReasons).toEqual([]);
  });

  test("a cost budget stops the turn by the gateway's calculation", async () => {
    const id = await aRunWith({ max_cost_usd: 0.5 }, takes({ costUsd: 0.75 }));

    expect(await endOf(id)).toEqual(exceeded("0.7500 of 0.5 US dollars"));
    expect((await harness.run(id)).costUsd).toBe(0.75);
  });

  test("a cost budget stops the turn by the agent's own report", async () => {
    const id = await aRunWith({ max_cost_usd: 0.5 }, (turn) => {
      turn.observer.update({ kind: "agent.usage", used: 1, size: 2, costUsd: 0.625 });
      return untilCancelled(turn);
    });
    await harness.clock.advance(100);

    expect(await endOf(id)).toEqual(exceeded("0.6250 of 0.5 US dollars"));
  });

  test.each<[string, Budget, string]>([
    ["tokens", { max_tokens: 59 }, "60 of 59 tokens"],
    ["cost", { max_cost_usd: 0.25 }, "0.5000 of 0.25 US dollars"],
  ])("a turn whose reported %s exceed the budget at its end fails the run", async (_what, budget, usage) => {
    const id = await aRunWith(budget, says(0.5, 60));

    expect(await endOf(id)).toEqual(exceeded(usage));
    expect(await harness.run(id)).toMatchObject({ totalTokens: 60, costUsd: 0.5, turn: 1 });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
  });

  test("a turn that exceeds the budget at its end leaves follow-ups waiting", async () => {
    const id = await aRunWith({ max_tokens: 59 }, async (turn) => {
      for (const { runId } of harness.agents.starts) {
        await harness.followUp(runId, "more");
      }
      return says(0, 60)(turn);
    });
    await quiet();

    expect(await endOf(id)).toEqual(exceeded("60 of 59 tokens", HELD));
    expect(harness.agents.prompts).toHaveLength(1);
  });

  test("a budget of minutes counts only the agent's work, not waiting for people or workers", async () => {
    const id = await aRunWith({ max_minutes: 10 }, async (turn) => {
      harness.clock.every(MINUTE_MS, () => turn.say("."));
      await new Promise<void>((resolve) => harness.clock.after(4 * MINUTE_MS, resolve));
      await turn.observer.permission({ permissionId: "p", title: "?", options: [] });
      await new Promise<void>((resolve) => harness.clock.after(4 * MINUTE_MS, resolve));
      return END_TURN;
    });
    await harness.clock.advance(4 * MINUTE_MS);
    expect((await harness.run(id)).state).toBe("BLOCKED");
    await harness.clock.advance(5 * MINUTE_MS);
    await harness.followUp(id, "no");
    await harness.clock.advance(4 * MINUTE_MS);
    expect((await harness.run(id)).state).toBe("SUCCEEDED");

    await harness.clock.advance(100 * MINUTE_MS);
    harness.agents.scripts.push((turn) => {
      harness.clock.every(MINUTE_MS, () => turn.say("."));
      return untilCancelled(turn);
    });
    await harness.followUp(id, "more");
    await harness.clock.advance(2 * MINUTE_MS - 1_000);
    expect((await harness.run(id)).state).toBe("INPROGRESS");
    await harness.clock.advance(2_000);

    expect(await endOf(id)).toEqual(exceeded("10 of 10 minutes of work"));
  });

  test.each([1, -1])(
    "a budget of minutes is counted correctly when the wall clock jumps by %i day",
    async (days) => {
      const id = await aRunWith({ max_minutes: 10 }, async (turn) => {
        harness.clock.every(MINUTE_MS, () => turn.say("."));
        await new Promise<void>((resolve) => harness.clock.after(4 * MINUTE_MS, resolve));
        await turn.observer.permission({ permissionId: "p", title: "?", options: [] });
        return untilCancelled(turn);
      });
      await harness.clock.advance(MINUTE_MS);
      harness.clock.jump(days * 24 * 60 * MINUTE_MS);
      await harness.clock.advance(3 * MINUTE_MS);
      await harness.followUp(id, "no");

      await harness.clock.advance(6 * MINUTE_MS - 1_000);
      expect((await harness.run(id)).state).toBe("INPROGRESS");
      await harness.clock.advance(2_000);

      expect(await endOf(id)).toEqual(exceeded("10 of 10 minutes of work"));
    },
  );

  test("a budget applies to the whole run over all turns and agents", async () => {
    const id = await aRunWith({ max_tokens: 100 }, says(0, 60));
    harness.agents.scripts.push(takes({ totalTokens: 41 }));

    await harness.followUp(id, "more");

    expect(await endOf(id)).toEqual(exceeded("101 of 100 tokens"));
    expect(harness.agents.prompts).toHaveLength(2);
  });

  test.each<[string, Budget, string]>([
    ["turns", { max_turns: 1 }, "1 of 1 turns"],
    ["tokens", { max_tokens: 60 }, "60 of 60 tokens"],
    ["cost", { max_cost_usd: 0.5 }, "0.5000 of 0.5 US dollars"],
  ])(
    "a used up budget of %s ends the next follow-up at once and starts nothing",
    async (_what, budget, usage) => {
      const id = await aRunWith(budget, says(0.5, 60));
      expect((await harness.run(id)).state).toBe("SUCCEEDED");

      await harness.followUp(id, "more");

      expect(await endOf(id)).toEqual(exceeded(usage, HELD));
      expect(await harness.run(id)).not.toHaveProperty("lease");
      expect([harness.agents.starts.length, harness.gateways.opened.length]).toEqual([1, 1]);
    },
  );

  test("a used up budget of minutes ends the next follow-up at once", async () => {
    const id = await aRunWith({ max_minutes: 1 }, (turn) => untilCancelled(turn));
    await harness.clock.advance(MINUTE_MS + 1);
    expect(await endOf(id)).toEqual(exceeded("1 of 1 minutes of work"));

    await harness.followUp(id, "more");

    expect(await endOf(id)).toEqual(exceeded("1.0 of 1 minutes of work", HELD));
    expect(harness.agents.starts).toHaveLength(1);
  });

  test("a budget that is used up while follow-ups wait ends the run and leaves them waiting", async () => {
    const id = await aRunWith({ max_turns: 1 }, async () => {
      for (const { runId } of harness.agents.starts) {
        await harness.followUp(runId, "more");
      }
      return END_TURN;
    });
    await quiet();

    expect(await endOf(id)).toEqual(exceeded("1 of 1 turns", HELD));
    expect(harness.agents.prompts).toHaveLength(1);
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a budget that is not used up stops nothing", async () => {
    const budget = { max_turns: 2, max_tokens: 100, max_cost_usd: 1, max_minutes: 60 };
    const id = await aRunWith(budget, says(0.5, 50));
    await harness.followUp(id, "more");

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
    expect(harness.gateways.last.shutReasons).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });

  test("a budget of very many minutes does not fire at once", async () => {
    const id = await aRunWith({ max_minutes: 1_000_000 }, says(0, 1));

    expect((await harness.run(id)).state).toBe("SUCCEEDED");
  });

  test("a budget of turns counts a turn that a lost worker left open as one turn", async () => {
    const { id } = await harness.create({ config: { budget: { max_turns: 1 } } });
    await quiet();
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });

    const stopped = new CoreHarness();
    stopped.agents.scripts.push(untilCancelled);
    const run = await stopped.create({ config: { budget: { max_turns: 1 } } });
    const stop = new AbortController();
    const working = stopped.worker().work(run.id, stop.signal);
    await quiet();
    stop.abort();
    await stopped.clock.advance(LEASE_MS);
    await working;
    await stopped.start();
    await quiet();

    expect(await stopped.run(run.id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
  });
});
