import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreBench } from "../../../support/core-bench.ts";
import { quiet } from "../../../support/manual-clock.ts";
import type { Script } from "../../../support/scripted-agents.ts";

let bench: CoreBench;
beforeEach(async () => {
  bench = new CoreBench();
  await bench.start();
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
  bench.agents.scripts.push(...turns);
  const { id } = await bench.create();
  await quiet();
  for (const _more of turns.slice(1)) {
    await bench.followUp(id, "more");
    await quiet();
  }
  return id;
}

describe("what a run takes", () => {
  test("are the tokens of all its turns", async () => {
    const id = await perform(turn([], 100), turn([]), turn([], 23));

    expect((await bench.run(id)).totalTokens).toBe(123);
  });

  test.each([[-1], [0.5], [Number.NaN], [Infinity], [1e15]])(
    "are no tokens where the agent tells %s",
    async (tokens) => {
      const id = await perform(turn([], tokens), turn([], 5));

      expect((await bench.run(id)).totalTokens).toBe(5);
    },
  );

  test("is what its session has cost, told as one sum that grows", async () => {
    const id = await perform(turn([0, 0.25, 0.5]));

    expect((await bench.run(id)).costUsd).toBe(0.5);
  });

  test("goes on with a session that is taken up again, and goes on counting", async () => {
    const id = await perform(turn([0.5]), turn([0.5, 0.75]));

    expect((await bench.run(id)).costUsd).toBe(0.75);
  });

  test("adds up sessions that count anew", async () => {
    const id = await perform(turn([0.5]), turn([0.125, 0.25]));

    expect((await bench.run(id)).costUsd).toBe(0.75);
  });

  test("adds up sessions of which the later know nothing of the earlier", async () => {
    bench.agents.remembers = false;
    const id = await perform(turn([0.5]), turn([0.75]));

    expect((await bench.run(id)).costUsd).toBe(1.25);
  });

  test("is nothing that cannot be", async () => {
    const id = await perform(turn([-5, Number.NaN, 1e300, 0.5]));

    expect((await bench.run(id)).costUsd).toBe(0.5);
  });

  test("is unknown where nobody tells", async () => {
    const id = await perform(turn([]));

    expect(await bench.run(id)).not.toHaveProperty("costUsd");
  });
});
