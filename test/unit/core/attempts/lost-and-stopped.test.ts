import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreHarness, LEASE_MS } from "../../../support/core-harness.ts";
import { ManualClock, quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn, untilCancelled } from "../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

describe("a worker that was lost", () => {
  test("has its run taken up again, the turn told as interrupted", async () => {
    const { id } = await harness.create();
    await harness.followUp(id, "and this");
    await loseWorker(id);

    await harness.start();
    await harness.worker().recover(id);
    await quiet();

    expect(harness.agents.prompts[1]).toMatch(/^\(.*interrupted.*\)\n\nFix it\n\nand this$/);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2, lostAttempts: 0 });
  });

  test("is not lost to whoever is handed a job, though the time of the lease is over", async () => {
    const { id } = await harness.create();
    await loseWorker(id);

    await harness.worker().work(id, new AbortController().signal);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });

  test("has its run taken up some seconds after the end of the lease, and not before", async () => {
    const { id } = await harness.create();
    await loseWorker(id, 0);
    await harness.start();
    const stop = startLooking();

    await harness.clock.advance(LEASE_MS + 4_000);
    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await harness.clock.advance(4_000);

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
    stop();
  });

  test("writes no more, and its agent is closed", async () => {
    const { id } = await harness.create();
    const lost = await loseWorker(id);
    await harness.start();
    await harness.worker().recover(id);
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

  test("three times in a row ends the run with a reason", async () => {
    const { id } = await harness.create();
    for (let index = 0; index < 3; index += 1) {
      await loseWorker(id);
      await harness.worker().recover(id);
    }

    const run = await harness.run(id);
    expect(run).toMatchObject({
      state: "ERROR",
      statusMessage: { message: expect.stringContaining("3 times") },
    });
    expect(run).not.toHaveProperty("lease");
  });

  test("after the run was cancelled leaves it cancelled, and free", async () => {
    const { id } = await harness.create();
    await loseWorker(id);
    await harness.cancel(id);

    await harness.worker().recover(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("is not lost before its time", async () => {
    const { id } = await harness.create();
    await loseWorker(id, LEASE_MS / 2);

    await harness.worker().recover(id);
    await harness.worker().work(id, new AbortController().signal);

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });
});

describe("a worker that stops", () => {
  test("hands its run back, and the next one goes on with the turn", async () => {
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

  test("does not wait long for an agent that does not listen", async () => {
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

  test("takes nothing any more", async () => {
    const { id } = await harness.create();

    await expect(harness.worker().work(id, AbortSignal.abort())).rejects.toThrow("aborted");

    expect(await harness.run(id)).toMatchObject({ state: "QUEUED", attempt: 0 });
  });

  test("just when it claims a run hands it back", async () => {
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

  test("any number of times is no failure of the run", async () => {
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

describe("a database that is away for a while", () => {
  test.each(["before", "after"] as const)(
    "fails each write %s it is stored: each is stored once",
    async (when) => {
      const { id } = await harness.create();
      const calm = await aCalmLog();
      const worker = harness.worker();
      await harness.queue.work("run", 1, (key, stop) => worker.work(key as RunId, stop));

      for (let index = 0; index < 40; index += 1) {
        if (harness.faults.changes.length === 0) harness.faults.changes.push({ when });
        await harness.clock.advance(500);
      }

      expect((await harness.events(id)).map(({ body }) => body.kind)).toEqual(calm);
      expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
    },
  );

  test("for half a minute loses nothing of the agent's work", async () => {
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

describe("a database that was away for longer than a lease", () => {
  test("costs a worker that lives nothing: neither a janitor nor a job takes its run away", async () => {
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
    const stop = startLooking();
    await harness.worker({ worker: "another" }).work(id, new AbortController().signal);
    await harness.clock.advance(LEASE_MS);
    end();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 1, lostAttempts: 0 });
    expect(harness.agents.prompts).toHaveLength(1);
    stop();
  });

  test("makes nobody lost who was not seen lost since it is back", async () => {
    const { id } = await harness.create();
    await loseWorker(id);
    const maintenance = harness.maintenance();
    await maintenance.recoverLost();

    harness.faults.isAway = true;
    await maintenance.recoverLost();
    await harness.clock.advance(LEASE_MS);
    harness.faults.isAway = false;
    await maintenance.recoverLost();

    expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await harness.clock.advance(5_000);
    await maintenance.recoverLost();
    expect(await harness.run(id)).toMatchObject({ state: "QUEUED" });
  });
});

/** A janitor that looks at once and then as often as in a worker. */
function startLooking(): () => void {
  const maintenance = harness.maintenance();
  void maintenance.recoverLost();
  return harness.clock.every(2_500, () => void maintenance.recoverLost());
}

/** A worker whose time stands still and which hears nothing: it is lost, and does not know it. */
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

/** What stands in the log of a run that meets nothing. */
async function aCalmLog(): Promise<readonly string[]> {
  const calm = new CoreHarness();
  await calm.start();
  const { id } = await calm.create();
  await quiet();
  return (await calm.events(id)).map(({ body }) => body.kind);
}
