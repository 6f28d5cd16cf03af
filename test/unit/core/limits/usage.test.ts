import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreHarness, LIMITS } from "../../../support/core-harness.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { type Script, untilCancelled } from "../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

/** A turn whose agent tells what its session has cost so far, reading by reading, and what the turn took. */
function turn(readings: readonly number[], totalTokens?: number): Script {
  return async ({ observer }) => {
    for (const costUsd of readings) observer.update({ kind: "agent.usage", used: 1, size: 2, costUsd });
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

describe("what a run takes", () => {
  test("are the tokens of all its turns", async () => {
    const id = await perform(turn([], 100), turn([]), turn([], 23));

    expect((await harness.run(id)).totalTokens).toBe(123);
  });

  test.each([[-1], [0.5], [Number.NaN], [Infinity], [1e15]])(
    "are no tokens where the agent tells %s",
    async (tokens) => {
      const id = await perform(turn([], tokens), turn([], 5));

      expect((await harness.run(id)).totalTokens).toBe(5);
    },
  );

  test("is what its session has cost, told as one sum that grows", async () => {
    const id = await perform(turn([0, 0.25, 0.5]));

    expect((await harness.run(id)).costUsd).toBe(0.5);
  });

  test("goes on with a session that is taken up again, and goes on counting", async () => {
    const id = await perform(turn([0.5]), turn([0.5, 0.75]));

    expect((await harness.run(id)).costUsd).toBe(0.75);
  });

  test("adds up sessions that count anew", async () => {
    const id = await perform(turn([0.5]), turn([0.125, 0.25]));

    expect((await harness.run(id)).costUsd).toBe(0.75);
  });

  test("adds up sessions of which the later know nothing of the earlier", async () => {
    harness.agents.remembers = false;
    const id = await perform(turn([0.5]), turn([0.75]));

    expect((await harness.run(id)).costUsd).toBe(1.25);
  });

  test("is nothing that cannot be", async () => {
    const id = await perform(turn([-5, Number.NaN, 1e300, 0.5]));

    expect((await harness.run(id)).costUsd).toBe(0.5);
  });

  test("is unknown where nobody tells", async () => {
    const id = await perform(turn([]));

    expect(await harness.run(id)).not.toHaveProperty("costUsd");
  });
});

describe("agent and gateway tell of the same calls", () => {
  test.each([
    [{ totalTokens: 100, costUsd: 0.5 }, 60, 0.25, 100, 0.5],
    [{ totalTokens: 40, costUsd: 0.125 }, 60, 0.25, 60, 0.25],
    [{}, 60, 0.25, 60, 0.25],
  ])("%j: the larger counts, once", async (models, tokens, costUsd, tokensKept, costKept) => {
    const id = await perform(async (script) => {
      harness.gateways.last.call(models);
      return turn([costUsd], tokens)(script);
    });

    expect(await harness.run(id)).toMatchObject({ totalTokens: tokensKept, costUsd: costKept });
  });

  test("a session that is taken up again has told what the gateway knew better", async () => {
    const id = await perform(
      async (script) => {
        harness.gateways.last.call({ costUsd: 0.75 });
        return turn([0.5])(script);
      },
      turn([0.5, 0.625]),
    );

    expect((await harness.run(id)).costUsd).toBe(0.875);
  });

  test("the log says of a turn what its agent does not tell", async () => {
    const id = await perform(async () => {
      harness.gateways.last.call({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
      return { stopReason: "end_turn" };
    });

    const [ended] = (await harness.events(id)).filter(({ body }) => body.kind === "turn.ended");
    expect(ended?.body).toMatchObject({ usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } });
  });
});

describe("what a turn took that was broken off is kept, once", () => {
  const broken: Script = (script) => {
    harness.gateways.last.call({ totalTokens: 70, costUsd: 0.25 });
    return untilCancelled(script);
  };

  test("by a cancel", async () => {
    const id = await perform(broken);
    await harness.cancel(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED", totalTokens: 70, costUsd: 0.25 });
  });

  test("by a cancel, with what the agent tells at its end", async () => {
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

  test("by its agent's death", async () => {
    const id = await perform(async () => {
      harness.gateways.last.call({ totalTokens: 70 });
      throw new AppError("agent_process_failed", "It died.");
    });

    expect(await harness.run(id)).toMatchObject({ state: "ERROR", totalTokens: 70 });
  });

  test("by a time-out", async () => {
    const id = await perform(broken);
    await harness.clock.advance(LIMITS.inactivityMs + 10_000);

    expect(await harness.run(id)).toMatchObject({ state: "ERROR", totalTokens: 70 });
  });

  test("by its worker's stop, and then the whole turn's", async () => {
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

  test("by the death of its worker, as far as it was told before", async () => {
    const id = await perform((script) => {
      harness.gateways.last.call({ totalTokens: 70 });
      script.say("at it");
      return untilCancelled(script);
    });

    await harness.clock.advance(100);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", totalTokens: 70 });
  });
});
