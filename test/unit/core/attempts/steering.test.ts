import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreBench, LEASE_MS } from "../../../support/core-bench.ts";
import { ManualClock, quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type Script, untilCancelled } from "../../../support/scripted-agents.ts";

let bench: CoreBench;
let end: () => void;
const held: Script = () =>
  new Promise((resolve) => {
    end = () => resolve(END_TURN);
  });

beforeEach(() => {
  bench = new CoreBench();
  bench.agents.takesSteering = true;
  end = () => undefined;
});

async function aRunInItsTurn(): Promise<RunId> {
  bench.agents.scripts.push(held);
  await bench.start();
  const { id } = await bench.create();
  await quiet();
  return id;
}

async function kindsOf(id: RunId): Promise<readonly string[]> {
  return (await bench.events(id)).map(({ body }) => body.kind);
}

describe("a follow-up that steers", () => {
  test("is given to the running turn and is part of it", async () => {
    const id = await aRunInItsTurn();

    await bench.followUp(id, "mind the tests", "steer");
    expect(bench.agents.steered).toEqual(["mind the tests"]);
    expect((await kindsOf(id)).at(-1)).toBe("followup.steered");
    end();
    await quiet();

    expect(bench.agents.prompts).toEqual(["Fix it"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("waits for the next turn where the agent takes none", async () => {
    bench.agents.takesSteering = false;
    const id = await aRunInItsTurn();

    await bench.followUp(id, "mind the tests", "steer");
    end();
    await quiet();

    expect(bench.agents.prompts).toEqual(["Fix it", "mind the tests"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
    expect(await kindsOf(id)).not.toContain("followup.steered");
  });

  test("overtakes what waits, and keeps the order among its like", async () => {
    const id = await aRunInItsTurn();

    await bench.followUp(id, "later");
    await bench.followUp(id, "one", "steer");
    await bench.followUp(id, "two", "steer");
    end();
    await quiet();

    expect(bench.agents.steered).toEqual(["one", "two"]);
    expect(bench.agents.prompts).toEqual(["Fix it", "later"]);
  });

  test("that is behind a refused one waits with it", async () => {
    const id = await aRunInItsTurn();
    bench.agents.takesSteering = false;
    await bench.followUp(id, "one", "steer");
    bench.agents.takesSteering = true;
    await bench.followUp(id, "two", "steer");
    end();
    await quiet();

    expect(bench.agents.steered).toEqual([]);
    expect(bench.agents.prompts).toEqual(["Fix it", "one\n\ntwo"]);
  });

  test("is given with the first turn where none runs yet", async () => {
    const { id } = await bench.create();
    await bench.followUp(id, "mind the tests", "steer");

    await bench.start();

    expect(bench.agents.prompts).toEqual(["Fix it\n\nmind the tests"]);
    expect(bench.agents.steered).toEqual([]);
  });

  test("that comes while the words of a turn are put together is given to that turn", async () => {
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    bench.agents.remembers = false;
    bench.agents.scripts.push(held);
    const readEvents = bench.storage.runs.readEvents.bind(bench.storage.runs);
    let steer: Promise<unknown> | undefined;
    bench.storage.runs.readEvents = async (...args) => {
      if (args[3]?.includes("turn.ended")) steer ??= bench.followUp(id, "now", "steer");
      await steer;
      return readEvents(...args);
    };

    await bench.followUp(id, "more");
    await quiet();
    end();
    await quiet();

    expect(bench.agents.steered).toEqual(["now"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("is not given twice when the turn ends just then", async () => {
    const id = await aRunInItsTurn();
    let taken: () => void = () => undefined;
    bench.agents.beforeSteer.push(
      () =>
        new Promise((resolve) => {
          taken = resolve;
        }),
    );
    await bench.followUp(id, "mind the tests", "steer");
    end();
    await quiet();
    expect((await bench.run(id)).state).toBe("INPROGRESS");

    taken();
    await quiet();

    expect(bench.agents.steered).toEqual(["mind the tests"]);
    expect(bench.agents.prompts).toEqual(["Fix it"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("is given again with its turn when the worker is lost, never passed over", async () => {
    const { id } = await bench.create();
    const clock = new ManualClock(bench.clock.now());
    bench.agents.scripts.push(held);
    void bench.worker({ clock }).work(id, new AbortController().signal);
    await quiet();
    await bench.followUp(id, "mind the tests", "steer");
    expect(bench.agents.steered).toEqual(["mind the tests"]);
    await bench.clock.advance(2 * LEASE_MS);
    await bench.worker().recover(id);

    await bench.start();
    await quiet();

    expect(bench.agents.prompts.at(-1)).toMatch(/interrupted[\s\S]*Fix it\n\nmind the tests$/);
  });

  test("to a run that is cancelled while it is given waits for the next word", async () => {
    bench.agents.scripts.push(() => new Promise(() => undefined));
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    bench.agents.beforeSteer.push(() => bench.cancel(id));

    await bench.followUp(id, "mind the tests", "steer");
    await bench.clock.advance(LEASE_MS);
    expect((await bench.run(id)).state).toBe("CANCELLED");
    await bench.followUp(id, "go on");

    expect(bench.agents.prompts.at(-1)).toContain("mind the tests\n\ngo on");
  });

  test("to an agent that never answers holds neither the turn's end nor a cancel", async () => {
    const id = await aRunInItsTurn();
    bench.agents.beforeSteer.push(() => new Promise(() => undefined));
    await bench.followUp(id, "mind the tests", "steer");
    end();
    await bench.clock.advance(5_000);
    expect(bench.agents.prompts).toEqual(["Fix it", "mind the tests"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });

    bench.agents.scripts.push(untilCancelled);
    await bench.followUp(id, "go on");
    bench.agents.beforeSteer.push(() => new Promise(() => undefined));
    await bench.followUp(id, "and mind this", "steer");
    await bench.cancel(id);

    expect(await bench.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await bench.run(id)).not.toHaveProperty("lease");
    expect([bench.agents.open, bench.clock.pending]).toEqual([0, 0]);
  });

  test("stands in the conversation in its turn", async () => {
    const id = await aRunInItsTurn();
    await bench.followUp(id, "mind the tests", "steer");
    end();
    await quiet();

    const kinds = await kindsOf(id);
    expect(kinds.indexOf("followup.steered")).toBeLessThan(kinds.indexOf("turn.ended"));
  });
});
