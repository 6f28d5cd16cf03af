import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { type Script, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

/** Scripts a turn whose agent reports these totals of its session's cost, and the tokens of the turn. */
function turn(readings: readonly number[], totalTokens?: number): Script {
  return async ({ observer }) => {
    for (const costUsd of readings) {
      observer.update({ kind: "agent.usage", used: 1, size: 2, costUsd });
    }
    const usage =
      totalTokens === undefined ? {} : { usage: { inputTokens: 0, outputTokens: 0, totalTokens } };
    return { stopReason: "end_turn", ...usage };
  };
}

async function perform(...turns: readonly Script[]): Promise<RunId> {
  harness.agents.scripts.push(...turns);
  const { id } = await harness.create();
  await quiet();
  for (const _more of turns.slice(1)) {
    await harness.followUp(id, "more");
    await quiet();
  }
  return id;
}

describe("the usage of a run", () => {
  test("the usage of a run includes the tokens of all its turns", async () => {
    const id = await perform(turn([], 100), turn([]), turn([], 23));

    expect((await harness.run(id)).totalTokens).toBe(123);
  });

  test.each([[-1], [0.5], [Number.NaN], [Infinity], [1e15]])(
    "a run uses no tokens if the agent reports %s",
    async (tokens) => {
      const id = await perform(turn([], tokens), turn([], 5));

      expect((await harness.run(id)).totalTokens).toBe(5);
    },
  );

  test("the cost of a run is the growing total that its session reports", async () => {
    const id = await perform(turn([0, 0.25, 0.5]));

    expect((await harness.run(id)).costUsd).toBe(0.5);
  });

  test("the cost continues from the earlier total when a session is resumed", async () => {
    const id = await perform(turn([0.5]), turn([0.5, 0.75]));

    expect((await harness.run(id)).costUsd).toBe(0.75);
  });

  test("the costs of sessions that start their count again are added up", async () => {
    const id = await perform(turn([0.5]), turn([0.125, 0.25]));

    expect((await harness.run(id)).costUsd).toBe(0.75);
  });

  test("the costs of sessions that do not know earlier ones are added up", async () => {
    harness.agents.remembers = false;
    const id = await perform(turn([0.5]), turn([0.75]));

    expect((await harness.run(id)).costUsd).toBe(1.25);
  });

  test("impossible values are ignored in the usage", async () => {
    const id = await perform(turn([-5, Number.NaN, 1e300, 0.5]));

    expect((await harness.run(id)).costUsd).toBe(0.5);
  });

  test("the usage is unknown if neither agent nor gateway reports it", async () => {
    const id = await perform(turn([]));

    expect(await harness.run(id)).not.toHaveProperty("costUsd");
  });
});

describe("agent and gateway report the same calls", () => {
  test.each([
    [{ totalTokens: 100, costUsd: 0.5 }, 60, 0.25, 100, 0.5],
    [{ totalTokens: 40, costUsd: 0.125 }, 60, 0.25, 60, 0.25],
    [{}, 60, 0.25, 60, 0.25],
  ])("of %j the larger one counts, once", async (models, tokens, costUsd, tokensKept, costKept) => {
    const id = await perform(async (script) => {
      harness.gateways.last.call(models);
      return turn([costUsd], tokens)(script);
    });

    expect(await harness.run(id)).toMatchObject({ totalTokens: tokensKept, costUsd: costKept });
  });

  test("the report of a resumed session does not replace a larger count of the gateway", async () => {
    const id = await perform(
      async (script) => {
        harness.gateways.last.call({ costUsd: 0.75 });
        return turn([0.5])(script);
      },
      turn([0.5, 0.625]),
    );

    expect((await harness.run(id)).costUsd).toBe(0.875);
  });

  test("the log contains the usage of a turn that its agent does not report", async () => {
    const id = await perform(async () => {
      harness.gateways.last.call({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
      return { stopReason: "end_turn" };
    });

    const [ended] = (await harness.events(id)).filter(({ body }) => body.kind === "turn.ended");
    expect(ended?.body).toMatchObject({ usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } });
  });
});

describe("the usage of an interrupted turn is stored once", () => {
  const broken: Script = (script) => {
    harness.gateways.last.call({ totalTokens: 70, costUsd: 0.25 });
    return untilCancelled(script);
  };

  test("the usage of a turn ended by a cancel is stored once", async () => {
    const id = await perform(broken);
    await harness.cancel(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED", totalTokens: 70, costUsd: 0.25 });
  });

  test("the usage of a cancelled turn includes the agent's final report", async () => {
    const id = await perform(async (script) => {
      await untilCancelled(script);
      return {
        stopReason: "cancelled",
        usage: { inputTokens: 0, outputTokens: 9, totalTokens: 9 },
      };
    });
    await harness.cancel(id);

    expect((await harness.run(id)).totalTokens).toBe(9);
  });

  test("the usage of a turn ended by the death of its agent is stored once", async () => {
    const id = await perform(async () => {
      harness.gateways.last.call({ totalTokens: 70 });
      throw new AppError("internal_error", "It died.", { reason: "agent_process_failed" });
    });

    expect(await harness.run(id)).toMatchObject({ state: "ERROR", totalTokens: 70 });
  });

  test("the usage of a turn ended by a timeout is stored once", async () => {
    const id = await perform(broken);
    await harness.clock.advance(LIMITS.inactivityMs + 10_000);

    expect(await harness.run(id)).toMatchObject({ state: "ERROR", totalTokens: 70 });
  });

  test("the usage of a turn ended by a stop of its worker is stored, and then that of the whole turn", async () => {
    const stopped = new CoreHarness();
    stopped.agents.scripts.push((script) => {
      stopped.gateways.last.call({ totalTokens: 70 });
      return untilCancelled(script);
    });
    const { id } = await stopped.create();
    const stop = new AbortController();
    const working = stopped.worker().work(id, stop.signal);
    await quiet();
    stop.abort();
    await stopped.clock.advance(10_000);
    await working;
    stopped.agents.scripts.push(async () => {
      stopped.gateways.last.call({ totalTokens: 5 });
      return { stopReason: "end_turn" };
    });
    await stopped.start();
    await quiet();

    expect(await stopped.run(id)).toMatchObject({ state: "SUCCEEDED", totalTokens: 75 });
  });

  test("the usage of a turn ended by the death of its worker is stored as far as it was reported", async () => {
    const id = await perform((script) => {
      harness.gateways.last.call({ totalTokens: 70 });
      script.say("at it");
      return untilCancelled(script);
    });

    await harness.clock.advance(100);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", totalTokens: 70 });
  });
});
