import { beforeEach, describe, expect, test } from "vitest";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

describe("follow-ups", () => {
  test("follow-ups before the start are sent to the agent with the request in order", async () => {
    const { id } = await harness.create();
    await harness.followUp(id, "one");
    await harness.followUp(id, "two");

    await harness.start();

    expect(harness.agents.prompts).toEqual(["Fix it\n\none\n\ntwo"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("follow-ups during a turn become the next turn in order with the same agent", async () => {
    const hold = held();
    harness.agents.scripts.push(hold.script);
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    await harness.followUp(id, "one");
    await harness.followUp(id, "two");
    expect(harness.agents.prompts).toHaveLength(1);

    hold.end();
    await quiet();

    expect(harness.agents.prompts).toEqual(["Fix it", "one\n\ntwo"]);
    expect(harness.agents.starts).toHaveLength(1);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 1 });
  });

  test("a follow-up after the end resumes the run in its workspace and session", async () => {
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.followUp(id, "more");

    expect(harness.agents.prompts).toEqual(["Fix it", "more"]);
    expect(harness.agents.starts[1]).toMatchObject({ previousSession: "session-1" });
    expect(await harness.run(id)).toMatchObject({
      state: "SUCCEEDED",
      turn: 2,
      attempt: 2,
      checkpoint: "checkpoint-2",
    });
    expect(harness.workspaces.forgotten).toEqual(["checkpoint-1", "work-1"]);
  });

  test("cancelling withdraws everything that was held, so that the next follow-up is given alone", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    for (let index = 0; index < 20; index++) {
      await harness.followUp(id, `later ${index}`);
    }

    await harness.cancel(id);
    await harness.clock.advance(5_000);
    expect(await harness.run(id)).toMatchObject({
      state: "CANCELLED",
      statusMessage: { message: expect.stringMatching(/20 held follow-ups were withdrawn\.$/) },
    });
    await harness.followUp(id, "the next");

    expect(harness.agents.prompts.at(-1)).toBe("the next");
    const followUps = await harness.storage.followUps.list(id, 0, 100);
    expect(followUps.filter(({ withdrawnAt }) => withdrawnAt !== undefined)).toHaveLength(20);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED" });
  });

  test("a follow-up to an agent without memory comes with the earlier conversation", async () => {
    harness.agents.remembers = false;
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.followUp(id, "more");

    expect(harness.agents.prompts[1]).toMatch(
      /for your information:\n```\nRequest: Fix it\nYou answered: Done\.\n[\s\S]*more$/,
    );
  });

  test("an interrupting follow-up stops the turn and is taken next", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    await harness.followUp(id, "later");
    expect(harness.agents.prompts).toHaveLength(1);

    await harness.followUp(id, "now", "interrupt");

    expect(harness.agents.prompts).toEqual(["Fix it", "later\n\nnow"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("an interrupting follow-up stops a turn whose prompt is still being built", async () => {
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    harness.agents.remembers = false;
    harness.agents.scripts.push(untilCancelled);
    // An agent without memory receives a digest, for which the log is read after the turn began.
    const readEvents = harness.storage.runs.readEvents.bind(harness.storage.runs);
    let interrupt: Promise<unknown> | undefined;
    harness.storage.runs.readEvents = async (...args) => {
      interrupt ??= harness.followUp(id, "now", "interrupt");
      await interrupt;
      return readEvents(...args);
    };

    await harness.followUp(id, "later");
    await quiet();

    expect(harness.agents.prompts.at(-1)).toBe("now");
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 3 });
  });

  test("follow-ups that wait when the agent fails resume the run", async () => {
    const hold = held();
    harness.agents.scripts.push(async (turn) => {
      await hold.script(turn);
      throw new Error("dead");
    });
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    await harness.followUp(id, "more");

    hold.end();
    await quiet();

    expect(harness.agents.prompts.at(-1)).toBe("more");
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 2 });
  });

  test("follow-ups that wait when the agent cannot start do not start it again", async () => {
    harness.agents.beforeStart.push(async () => {
      await harness.followUp(id, "more");
      throw new Error("no such program");
    });
    const { id } = await harness.create();

    await harness.start();
    await quiet();
    expect(await harness.run(id)).toMatchObject({ state: "ERROR", attempt: 1, turn: 0 });

    await harness.followUp(id, "try again");
    expect(harness.agents.prompts).toEqual(["Fix it\n\nmore\n\ntry again"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2, turn: 1 });
  });

  test("follow-ups that arrive while an ended run is cleaned up are taken afterwards", async () => {
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    const hold = held();
    harness.agents.scripts.push(async (turn) => {
      await hold.script(turn);
      // The follow-up arrives between the end of the turn and the release of the lease.
      harness.faults.gates.push(...[0, 1].map(() => Promise.resolve()));
      return END_TURN;
    });
    await harness.followUp(id, "second");
    hold.end();
    await harness.followUp(id, "third");

    await harness.clock.advance(LEASE_MS);

    expect(harness.agents.prompts.at(-1)).toBe("third");
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 3 });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });
});

describe("cancelling", () => {
  test("cancelling stops a working agent and frees the run when the agent is gone", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.cancel(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED", checkpoint: "checkpoint-1" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(harness.agents.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });

  test("cancelling changes the state at once and kills an unresponsive agent after a while", async () => {
    harness.agents.scripts.push(() => new Promise(() => undefined));
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.cancel(id);
    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED", lease: { worker: "worker-1" } });
    await harness.clock.advance(5_000);

    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a follow-up right after a cancel starts its turn when the old agent is gone", async () => {
    harness.agents.scripts.push(() => new Promise(() => undefined));
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    await harness.cancel(id);
    await harness.followUp(id, "rather this");
    expect(await harness.run(id)).toMatchObject({ state: "QUEUED", lease: { worker: "worker-1" } });
    expect(harness.agents.starts).toHaveLength(1);

    await harness.clock.advance(5_000);

    expect(harness.agents.prompts).toEqual(["Fix it", "rather this"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("cancelling a waiting run means that no agent is started", async () => {
    const { id } = await harness.create();
    await harness.cancel(id);

    await harness.start();

    expect(harness.agents.starts).toEqual([]);
    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED", attempt: 0 });
  });

  test("cancelling while the agent starts keeps it from being prompted", async () => {
    const hold = held();
    harness.agents.beforeStart.push(hold.wait);
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    await harness.cancel(id);

    hold.end();
    await quiet();

    expect(harness.agents.prompts).toEqual([]);
    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });
});

/** Scripts a turn or a start that lasts until the test ends it. */
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
