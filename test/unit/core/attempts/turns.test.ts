import { beforeEach, describe, expect, test } from "vitest";
import { CoreBench, LEASE_MS } from "../../../support/core-bench.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn, untilCancelled } from "../../../support/scripted-agents.ts";

let bench: CoreBench;
beforeEach(() => {
  bench = new CoreBench();
});

describe("follow-ups", () => {
  test("before the start are given to the agent with the request, in order", async () => {
    const { id } = await bench.create();
    await bench.followUp(id, "one");
    await bench.followUp(id, "two");

    await bench.start();

    expect(bench.agents.prompts).toEqual(["Fix it\n\none\n\ntwo"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("during a turn are the next turn, in order, with the same agent", async () => {
    const hold = held();
    bench.agents.scripts.push(hold.script);
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    await bench.followUp(id, "one");
    await bench.followUp(id, "two");
    expect(bench.agents.prompts).toHaveLength(1);

    hold.end();
    await quiet();

    expect(bench.agents.prompts).toEqual(["Fix it", "one\n\ntwo"]);
    expect(bench.agents.starts).toHaveLength(1);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 1 });
  });

  test("after the end take the run up again, in its workspace and its session", async () => {
    await bench.start();
    const { id } = await bench.create();
    await quiet();

    await bench.followUp(id, "more");

    expect(bench.agents.prompts).toEqual(["Fix it", "more"]);
    expect(bench.agents.starts[1]).toMatchObject({ previousSession: "session-1" });
    expect(await bench.run(id)).toMatchObject({
      state: "SUCCEEDED",
      turn: 2,
      attempt: 2,
      checkpoint: "checkpoint-2",
    });
    expect(bench.workspaces.forgotten).toEqual(["checkpoint-1"]);
  });

  test("to an agent that knows nothing any more come with what was said before", async () => {
    bench.agents.remembers = false;
    await bench.start();
    const { id } = await bench.create();
    await quiet();

    await bench.followUp(id, "more");

    expect(bench.agents.prompts[1]).toMatch(
      /for you to know:\n```\nRequest: Fix it\nYou answered: Done\.\n[\s\S]*more$/,
    );
  });

  test("that interrupt stop the turn and are taken next", async () => {
    bench.agents.scripts.push(untilCancelled);
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    await bench.followUp(id, "later");
    expect(bench.agents.prompts).toHaveLength(1);

    await bench.followUp(id, "now", "interrupt");

    expect(bench.agents.prompts).toEqual(["Fix it", "later\n\nnow"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("that interrupt while the words of the turn are put together stop it too", async () => {
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    bench.agents.remembers = false;
    bench.agents.scripts.push(untilCancelled);
    // An agent that remembers nothing is given a digest, for which the log is read after the turn began.
    const readEvents = bench.storage.runs.readEvents.bind(bench.storage.runs);
    let interrupt: Promise<unknown> | undefined;
    bench.storage.runs.readEvents = async (...args) => {
      interrupt ??= bench.followUp(id, "now", "interrupt");
      await interrupt;
      return readEvents(...args);
    };

    await bench.followUp(id, "later");
    await quiet();

    expect(bench.agents.prompts.at(-1)).toBe("now");
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 3 });
  });

  test("that wait when the agent fails take the run up again", async () => {
    const hold = held();
    bench.agents.scripts.push(async (turn) => {
      await hold.script(turn);
      throw new Error("dead");
    });
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    await bench.followUp(id, "more");

    hold.end();
    await quiet();

    expect(bench.agents.prompts.at(-1)).toBe("more");
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 2 });
  });

  test("that wait when the agent cannot be started do not start it again and again: they wait too", async () => {
    bench.agents.beforeStart.push(async () => {
      await bench.followUp(id, "more");
      throw new Error("no such program");
    });
    const { id } = await bench.create();

    await bench.start();
    await quiet();
    expect(await bench.run(id)).toMatchObject({ state: "ERROR", attempt: 1, turn: 0 });

    await bench.followUp(id, "try again");
    expect(bench.agents.prompts).toEqual(["Fix it\n\nmore\n\ntry again"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2, turn: 1 });
  });

  test("that come while an ended run is put away wait for it, and are taken then", async () => {
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    const hold = held();
    bench.agents.scripts.push(async (turn) => {
      await hold.script(turn);
      // Between the end of the turn and the return of the lease.
      bench.faults.gates.push(...[0, 1].map(() => Promise.resolve()));
      return END_TURN;
    });
    await bench.followUp(id, "second");
    hold.end();
    await bench.followUp(id, "third");

    await bench.clock.advance(LEASE_MS);

    expect(bench.agents.prompts.at(-1)).toBe("third");
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 3 });
    expect(await bench.run(id)).not.toHaveProperty("lease");
  });
});

describe("cancelling", () => {
  test("while the agent works stops it, and frees the run when it is gone", async () => {
    bench.agents.scripts.push(untilCancelled);
    await bench.start();
    const { id } = await bench.create();
    await quiet();

    await bench.cancel(id);

    expect(await bench.run(id)).toMatchObject({ state: "CANCELLED", checkpoint: "checkpoint-1" });
    expect(await bench.run(id)).not.toHaveProperty("lease");
    expect(bench.agents.open).toBe(0);
    expect(bench.clock.pending).toBe(0);
  });

  test("an agent that does not listen is killed after a while; the state changed at once", async () => {
    bench.agents.scripts.push(() => new Promise(() => undefined));
    await bench.start();
    const { id } = await bench.create();
    await quiet();

    await bench.cancel(id);
    expect(await bench.run(id)).toMatchObject({ state: "CANCELLED", lease: { worker: "worker-1" } });
    await bench.clock.advance(5_000);

    expect(bench.agents.open).toBe(0);
    expect(await bench.run(id)).not.toHaveProperty("lease");
  });

  test("and following up at once: the new turn waits for the old agent to be gone", async () => {
    bench.agents.scripts.push(() => new Promise(() => undefined));
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    await bench.cancel(id);
    await bench.followUp(id, "rather this");
    expect(await bench.run(id)).toMatchObject({ state: "QUEUED", lease: { worker: "worker-1" } });
    expect(bench.agents.starts).toHaveLength(1);

    await bench.clock.advance(5_000);

    expect(bench.agents.prompts).toEqual(["Fix it", "rather this"]);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("a run that waits means that no agent is started", async () => {
    const { id } = await bench.create();
    await bench.cancel(id);

    await bench.start();

    expect(bench.agents.starts).toEqual([]);
    expect(await bench.run(id)).toMatchObject({ state: "CANCELLED", attempt: 0 });
  });

  test("while the agent is being started keeps it from being prompted", async () => {
    const hold = held();
    bench.agents.beforeStart.push(hold.wait);
    await bench.start();
    const { id } = await bench.create();
    await quiet();
    await bench.cancel(id);

    hold.end();
    await quiet();

    expect(bench.agents.prompts).toEqual([]);
    expect(bench.agents.open).toBe(0);
    expect(await bench.run(id)).not.toHaveProperty("lease");
  });
});

/** A turn, or a start, that lasts until the test ends it. */
function held() {
  const end: { now: () => void } = { now: () => undefined };
  const ended = new Promise<void>((resolve) => {
    end.now = resolve;
  });
  const script = async ({ say }: ScriptedTurn) => {
    await ended;
    say("Done.");
    return END_TURN;
  };
  return { script, wait: () => ended, end: () => end.now() };
}
