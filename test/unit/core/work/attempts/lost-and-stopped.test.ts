import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn, untilCancelled } from "../../../../support/scripted-agents.ts";

/** A lease that was expiring before is lost after this time. */
const CONFIRM_MS = 2_500;

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

describe("a lost worker", () => {
  test("the run of a lost worker is resumed, and its turn is logged as interrupted", async () => {
    const { id } = await harness.create();
    await harness.followUp(id, "and this");
    await loseWorker(id);

    await harness.start();
    await harness.lostRuns().recover(id);
    await quiet();

    expect(harness.agents.prompts[1]).toMatch(/^\(.*interrupted.*\)\n\nFix it\n\nand this$/);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2, lostAttempts: 0 });
  });

  test("a worker with a job does not take over a run just because the lease has expired", async () => {
    const { id } = await harness.create();
    await loseWorker(id);

    await harness.worker().work(id, new AbortController().signal);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });

  test("the run of a lost worker is resumed half a second after its lease expires, not earlier", async () => {
    const { id } = await harness.create();
    await loseWorker(id, 0);
    await harness.start();
    const stop = harness.lostRuns().start();

    await harness.clock.advance(LEASE_MS + 499);
    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await harness.clock.advance(100);

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
    stop();
  });

  test("a lost worker is no longer listed, so that no run waits for it", async () => {
    const { id } = await harness.create();
    await loseWorker(id, 0);
    const sandbox = { name: "local", isolated: false };
    await harness.storage.workers.beat({ id: "worker-1", slots: 1, sandbox });
    const stop = harness.lostRuns().start();

    await harness.clock.advance(LEASE_MS + 600);

    expect(await harness.storage.workers.listLive()).toEqual([]);
    stop();
  });

  test("a lost worker writes nothing more and closes its agent", async () => {
    const { id } = await harness.create();
    const lost = await loseWorker(id);
    await harness.start();
    await harness.lostRuns().recover(id);
    await quiet();
    const events = await harness.events(id);

    lost.say("I am still here");
    await lost.clock.advance(2 * LEASE_MS);
    lost.end();
    await quiet();

    expect(await harness.events(id)).toEqual(events);
    expect(harness.agents.open).toBe(0);
    expect(lost.clock.pending).toBe(0);
  });

  test("a run whose worker is lost three times in a row ends with a reason", async () => {
    const { id } = await harness.create();
    for (let index = 0; index < 3; index += 1) {
      await loseWorker(id);
      await harness.lostRuns().recover(id);
    }

    const run = await harness.run(id);
    expect(run).toMatchObject({
      state: "ERROR",
      statusMessage: { message: expect.stringContaining("3 times") },
    });
    expect(run).not.toHaveProperty("lease");
  });

  test("a cancelled run whose worker is lost stays cancelled and is freed", async () => {
    const { id } = await harness.create();
    await loseWorker(id);
    await harness.cancel(id);

    await harness.lostRuns().recover(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a worker that renews its lease is not treated as lost", async () => {
    const { id } = await harness.create();
    await loseWorker(id, LEASE_MS / 2);

    await harness.lostRuns().recover(id);
    await harness.worker().work(id, new AbortController().signal);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });
});

describe("a stopping worker", () => {
  test("a stopping worker hands its run back, and the next worker continues the turn", async () => {
    const stop = new AbortController();
    harness.agents.scripts.push(untilCancelled);
    const { id } = await harness.create();
    const worked = harness.worker().work(id, stop.signal);
    await quiet();

    stop.abort();
    await quiet();
    await worked;

    expect(await harness.run(id)).toMatchObject({
      state: "QUEUED",
      turnOpen: true,
      checkpoint: "checkpoint-1",
      lostAttempts: 0,
    });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    await harness.start();
    expect(harness.agents.prompts[1]).toMatch(/interrupted[\s\S]*Fix it$/);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
  });

  test("a stopping worker does not wait long for an agent that does not react", async () => {
    const stop = new AbortController();
    harness.agents.scripts.push(() => new Promise(() => undefined));
    const { id } = await harness.create();
    void harness.worker().work(id, stop.signal);
    await quiet();

    stop.abort();
    await harness.clock.advance(2_000);

    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
  });

  test("a stopped worker takes no more runs", async () => {
    const runs = harness.startRuns();
    await runs.stop(0);

    const { id } = await harness.create();
    await harness.clock.advance(5_000);

    expect(await harness.run(id)).toMatchObject({ state: "QUEUED", attempt: 0 });
  });

  test("a worker that stops while it claims a run hands the run back", async () => {
    const stop = new AbortController();
    harness.agents.scripts.push(untilCancelled);
    const { id } = await harness.create();

    const worked = harness.worker().work(id, stop.signal);
    stop.abort();
    await harness.clock.advance(LEASE_MS);
    await worked;

    expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(harness.agents.prompts).toEqual([]);
  });

  test("stops of workers are never counted as failures of the run", async () => {
    const { id } = await harness.create();
    for (let index = 0; index < 5; index += 1) {
      const stop = new AbortController();
      harness.agents.scripts.push(untilCancelled);
      const worked = harness.worker().work(id, stop.signal);
      await quiet();
      stop.abort();
      await worked;
    }

    expect(await harness.run(id)).toMatchObject({ state: "QUEUED", lostAttempts: 0, attempt: 5 });
  });
});

describe("a database that is unavailable for a while", () => {
  test.each(["before", "after"] as const)(
    "while the database fails each write %s it is stored, each event is stored once",
    async (when) => {
      const { id } = await harness.create();
      const calm = await aCalmLog();
      harness.startRuns();
      // The faults begin after the claim.
      await quiet();

      for (let index = 0; index < 40; index += 1) {
        if (harness.faults.changes.length === 0) {
          harness.faults.changes.push({ when });
        }
        await harness.clock.advance(500);
      }

      expect((await harness.events(id)).map(({ body }) => body.kind)).toEqual(calm);
      expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
    },
  );

  test("a database that is unavailable for half a minute loses nothing of the agent's work", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      harness.faults.isAway = true;
      say("Done while it was away.");
      return END_TURN;
    });
    await harness.start();
    const { id } = await harness.create();
    await harness.clock.advance(30_000);

    harness.faults.isAway = false;
    await harness.clock.advance(1_000);

    expect(await harness.run(id)).toMatchObject({
      state: "SUCCEEDED",
      answer: "Done while it was away.",
      attempt: 1,
    });
  });
});

describe("a database that is unavailable for longer than a lease", () => {
  test("after a long database failure neither the maintenance nor a job takes a run from its live worker", async () => {
    let end: () => void = () => undefined;
    harness.agents.scripts.push(
      () =>
        new Promise((resolve) => {
          end = () => resolve(END_TURN);
        }),
    );
    const { id } = await harness.create();
    void harness.worker().work(id, new AbortController().signal);
    await quiet();
    harness.faults.isAway = true;
    await harness.clock.advance(2 * LEASE_MS);

    harness.faults.isAway = false;
    // Both come before the owner's next renewal.
    const stop = harness.lostRuns().start();
    await harness.worker({ worker: "another" }).work(id, new AbortController().signal);
    await harness.clock.advance(LEASE_MS);
    end();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 1, lostAttempts: 0 });
    expect(harness.agents.prompts).toHaveLength(1);
    stop();
  });

  test("a storage that could be read and not written takes no run from its live worker", async () => {
    const { id } = await harness.create();
    await loseWorker(id);
    const lostRuns = harness.lostRuns();
    await lostRuns.round();
    await harness.clock.advance(CONFIRM_MS);

    harness.faults.changes.push({ when: "before" });
    await lostRuns.round();
    await lostRuns.round();

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await harness.clock.advance(CONFIRM_MS);
    await lostRuns.round();
    expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
  });

  test("a worker counts as lost only if its lease expired after the database returned", async () => {
    const { id } = await harness.create();
    await loseWorker(id);
    const lostRuns = harness.lostRuns();
    await lostRuns.round();

    harness.faults.isAway = true;
    await lostRuns.round();
    await harness.clock.advance(CONFIRM_MS);
    harness.faults.isAway = false;
    await lostRuns.round();

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await harness.clock.advance(CONFIRM_MS);
    await lostRuns.round();
    expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
  });
});

test("after a pause of this process or of the database, a run is lost only if its lease stays expired", async () => {
  const { id } = await harness.create();
  await loseWorker(id);
  const lostRuns = harness.lostRuns();
  await lostRuns.round();
  await harness.clock.advance(60_000);

  await lostRuns.round();

  expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  await harness.clock.advance(CONFIRM_MS);
  await lostRuns.round();
  expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
});

/** Loses a worker: its time stands still and it receives no notifications, so it does not know that it is lost. */
async function loseWorker(id: RunId, afterMs = 2 * LEASE_MS) {
  const clock = new ManualClock(harness.clock.now());
  const turns: { turn?: ScriptedTurn; end: () => void } = { end: () => undefined };
  harness.agents.scripts.push((turn) => {
    turns.turn = turn;
    return new Promise((resolve) => {
      turns.end = () => resolve(END_TURN);
    });
  });
  const { pubsub } = new CoreHarness();
  void harness.worker({ clock, pubsub }).work(id, new AbortController().signal);
  await quiet();
  await harness.clock.advance(afterMs);
  return { clock, say: (text: string) => turns.turn?.say(text), end: () => turns.end() };
}

/** Returns the log of an undisturbed run. */
async function aCalmLog(): Promise<readonly string[]> {
  const calm = new CoreHarness();
  await calm.start();
  const { id } = await calm.create();
  await quiet();
  return (await calm.events(id)).map(({ body }) => body.kind);
}
