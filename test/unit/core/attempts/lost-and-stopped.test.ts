import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../src/core/ids.ts";
import { CoreBench, LEASE_MS } from "../../../support/core-bench.ts";
import { ManualClock, quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn, untilCancelled } from "../../../support/scripted-agents.ts";

let bench: CoreBench;
beforeEach(() => {
  bench = new CoreBench();
});

describe("a worker that was lost", () => {
  test("has its run taken up again, the turn told as interrupted", async () => {
    const { id } = await bench.create();
    await bench.followUp(id, "and this");
    await loseWorker(id);

    await bench.start();
    await bench.worker().recover(id);
    await quiet();

    expect(bench.agents.prompts[1]).toMatch(/^\(.*interrupted.*\)\n\nFix it\n\nand this$/);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2, lostAttempts: 0 });
  });

  test("is not lost to whoever is handed a job, though the time of the lease is over", async () => {
    const { id } = await bench.create();
    await loseWorker(id);

    await bench.worker().work(id, new AbortController().signal);

    expect(await bench.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });

  test("has its run taken up some seconds after the end of the lease, and not before", async () => {
    const { id } = await bench.create();
    await loseWorker(id, 0);
    await bench.start();
    const stop = startLooking();

    await bench.clock.advance(LEASE_MS + 4_000);
    expect(await bench.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await bench.clock.advance(4_000);

    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
    stop();
  });

  test("writes no more, and its agent is closed", async () => {
    const { id } = await bench.create();
    const lost = await loseWorker(id);
    await bench.start();
    await bench.worker().recover(id);
    await quiet();
    const events = await bench.events(id);

    lost.say("I am still here");
    await lost.clock.advance(2 * LEASE_MS);
    lost.end();
    await quiet();

    expect(await bench.events(id)).toEqual(events);
    expect(bench.agents.open).toBe(0);
    expect(lost.clock.pending).toBe(0);
  });

  test("three times in a row ends the run with a reason", async () => {
    const { id } = await bench.create();
    for (let index = 0; index < 3; index += 1) {
      await loseWorker(id);
      await bench.worker().recover(id);
    }

    const run = await bench.run(id);
    expect(run).toMatchObject({
      state: "ERROR",
      statusMessage: { message: expect.stringContaining("3 times") },
    });
    expect(run).not.toHaveProperty("lease");
  });

  test("after the run was cancelled leaves it cancelled, and free", async () => {
    const { id } = await bench.create();
    await loseWorker(id);
    await bench.cancel(id);

    await bench.worker().recover(id);

    expect(await bench.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await bench.run(id)).not.toHaveProperty("lease");
  });

  test("is not lost before its time", async () => {
    const { id } = await bench.create();
    await loseWorker(id, LEASE_MS / 2);

    await bench.worker().recover(id);
    await bench.worker().work(id, new AbortController().signal);

    expect(await bench.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
  });
});

describe("a worker that stops", () => {
  test("hands its run back, and the next one goes on with the turn", async () => {
    const stop = new AbortController();
    bench.agents.scripts.push(untilCancelled);
    const { id } = await bench.create();
    const worked = bench.worker().work(id, stop.signal);
    await quiet();

    stop.abort();
    await quiet();
    await worked;

    expect(await bench.run(id)).toMatchObject({
      state: "QUEUED",
      turnOpen: true,
      checkpoint: "checkpoint-1",
      lostAttempts: 0,
    });
    expect(await bench.run(id)).not.toHaveProperty("lease");
    await bench.start();
    expect(bench.agents.prompts[1]).toMatch(/interrupted[\s\S]*Fix it$/);
    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
  });

  test("does not wait long for an agent that does not listen", async () => {
    const stop = new AbortController();
    bench.agents.scripts.push(() => new Promise(() => undefined));
    const { id } = await bench.create();
    void bench.worker().work(id, stop.signal);
    await quiet();

    stop.abort();
    await bench.clock.advance(2_000);

    expect(bench.agents.open).toBe(0);
    expect(await bench.run(id)).toMatchObject({ state: "QUEUED" });
  });

  test("takes nothing any more", async () => {
    const { id } = await bench.create();

    await expect(bench.worker().work(id, AbortSignal.abort())).rejects.toThrow("aborted");

    expect(await bench.run(id)).toMatchObject({ state: "QUEUED", attempt: 0 });
  });

  test("just when it claims a run hands it back", async () => {
    const stop = new AbortController();
    bench.agents.scripts.push(untilCancelled);
    const { id } = await bench.create();

    const worked = bench.worker().work(id, stop.signal);
    stop.abort();
    await bench.clock.advance(LEASE_MS);
    await worked;

    expect(await bench.run(id)).toMatchObject({ state: "QUEUED" });
    expect(await bench.run(id)).not.toHaveProperty("lease");
    expect(bench.agents.prompts).toEqual([]);
  });

  test("any number of times is no failure of the run", async () => {
    const { id } = await bench.create();
    for (let index = 0; index < 5; index += 1) {
      const stop = new AbortController();
      bench.agents.scripts.push(untilCancelled);
      const worked = bench.worker().work(id, stop.signal);
      await quiet();
      stop.abort();
      await worked;
    }

    expect(await bench.run(id)).toMatchObject({ state: "QUEUED", lostAttempts: 0, attempt: 5 });
  });
});

describe("a database that is away for a while", () => {
  test.each(["before", "after"] as const)(
    "fails each write %s it is stored: each is stored once",
    async (when) => {
      const { id } = await bench.create();
      const calm = await aCalmLog();
      const worker = bench.worker();
      await bench.queue.work("run", 1, (key, stop) => worker.work(key as RunId, stop));

      for (let index = 0; index < 40; index += 1) {
        if (bench.faults.changes.length === 0) bench.faults.changes.push({ when });
        await bench.clock.advance(500);
      }

      expect((await bench.events(id)).map(({ body }) => body.kind)).toEqual(calm);
      expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
    },
  );

  test("for half a minute loses nothing of the agent's work", async () => {
    bench.agents.scripts.push(async ({ say }) => {
      bench.faults.isAway = true;
      say("Done while it was away.");
      return END_TURN;
    });
    await bench.start();
    const { id } = await bench.create();
    await bench.clock.advance(30_000);

    bench.faults.isAway = false;
    await bench.clock.advance(1_000);

    expect(await bench.run(id)).toMatchObject({
      state: "SUCCEEDED",
      answer: "Done while it was away.",
      attempt: 1,
    });
  });
});

describe("a database that was away for longer than a lease", () => {
  test("costs a worker that lives nothing: neither a janitor nor a job takes its run away", async () => {
    let end: () => void = () => undefined;
    bench.agents.scripts.push(
      () =>
        new Promise((resolve) => {
          end = () => resolve(END_TURN);
        }),
    );
    const { id } = await bench.create();
    void bench.worker().work(id, new AbortController().signal);
    await quiet();
    bench.faults.isAway = true;
    await bench.clock.advance(2 * LEASE_MS);

    bench.faults.isAway = false;
    // Both come before the owner's next renewal.
    const stop = startLooking();
    await bench.worker({ worker: "another" }).work(id, new AbortController().signal);
    await bench.clock.advance(LEASE_MS);
    end();
    await quiet();

    expect(await bench.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 1, lostAttempts: 0 });
    expect(bench.agents.prompts).toHaveLength(1);
    stop();
  });

  test("makes nobody lost who was not seen lost since it is back", async () => {
    const { id } = await bench.create();
    await loseWorker(id);
    const janitor = bench.janitor();
    await janitor.recoverLost();

    bench.faults.isAway = true;
    await janitor.recoverLost();
    await bench.clock.advance(LEASE_MS);
    bench.faults.isAway = false;
    await janitor.recoverLost();

    expect(await bench.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    await bench.clock.advance(5_000);
    await janitor.recoverLost();
    expect(await bench.run(id)).toMatchObject({ state: "QUEUED" });
  });
});

/** A janitor that looks at once and then as often as in a worker. */
function startLooking(): () => void {
  const janitor = bench.janitor();
  void janitor.recoverLost();
  return bench.clock.every(2_500, () => void janitor.recoverLost());
}

/** A worker whose time stands still and which hears nothing: it is lost, and does not know it. */
async function loseWorker(id: RunId, afterMs = 2 * LEASE_MS) {
  const clock = new ManualClock(bench.clock.now());
  const turns: { turn?: ScriptedTurn; end: () => void } = { end: () => undefined };
  bench.agents.scripts.push((turn) => {
    turns.turn = turn;
    return new Promise((resolve) => {
      turns.end = () => resolve(END_TURN);
    });
  });
  const { news } = new CoreBench();
  void bench.worker({ clock, news }).work(id, new AbortController().signal);
  await quiet();
  await bench.clock.advance(afterMs);
  return { clock, say: (text: string) => turns.turn?.say(text), end: () => turns.end() };
}

/** What stands in the log of a run that meets nothing. */
async function aCalmLog(): Promise<readonly string[]> {
  const calm = new CoreBench();
  await calm.start();
  const { id } = await calm.create();
  await quiet();
  return (await calm.events(id)).map(({ body }) => body.kind);
}
