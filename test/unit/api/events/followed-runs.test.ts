import { afterEach, describe, expect, test } from "vitest";
import type { EventStream } from "../../../../src/api/events/event-stream.ts";
import { FollowedRuns } from "../../../../src/api/events/followed-runs.ts";
import type { PrincipalId } from "../../../../src/core/basics/ids.ts";
import type { RunEvent } from "../../../../src/core/model/runs/events.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import { InMemoryPubSub } from "../../../support/memory/in-memory-pubsub.ts";
import { aRun } from "../../../support/run-builders.ts";
import { waitFor } from "../../../support/wait-for.ts";

/** Records what was written and how the stream ended. */
class FakeStream {
  readonly pieces: Uint8Array[] = [];
  readonly errors: unknown[] = [];
  readonly listeners: (() => void)[] = [];
  /** If set, the reader has not taken what was written. */
  full: Promise<boolean> | undefined;
  isOver = false;

  get told(): number[] {
    const text = Buffer.concat(this.pieces).toString();
    return Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id));
  }

  write(piece: Uint8Array): boolean {
    this.pieces.push(piece);
    return this.full === undefined;
  }

  async drained(): Promise<boolean> {
    return this.full ?? true;
  }

  end(): void {
    this.isOver = true;
    for (const listener of this.listeners) {
      listener();
    }
  }

  fail(error: unknown): void {
    this.errors.push(error);
    this.end();
  }

  onceOver(listener: () => void): void {
    this.listeners.push(listener);
  }
}

/** A run that the test changes. Reading it takes as long as `hold`. */
class Harness {
  readonly run: Run;
  readonly looks: (Run | undefined)[] = [];
  readonly reads: number[] = [];
  readonly streams: FakeStream[] = [];
  readonly pubsub = new InMemoryPubSub();
  readonly followed: FollowedRuns;
  stored: Run | undefined;
  text = "x";
  hold: Promise<void> = Promise.resolve();

  constructor(run: Run = aRun({ lastSeq: 1 })) {
    this.run = run;
    this.stored = run;
    const find = async () => {
      const found = this.stored;
      await this.hold;
      this.looks.push(found);
      return found;
    };
    const readEvents = async (_id: unknown, after: number) => this.#read(after);
    const parts = { pubsub: this.pubsub, storage: { runs: { find } }, runs: { readEvents } };
    // An interval that never elapses.
    this.followed = new FollowedRuns(parts as never, 2 ** 30);
  }

  follow({ after = 1, follow = false, found = this.run, viewerId = this.run.creatorId } = {}): FakeStream {
    const viewer = { id: viewerId, teamId: this.run.teamId, administrator: false };
    const stream = new FakeStream();
    this.streams.push(stream);
    this.followed.follow(found, stream as unknown as EventStream, { viewer, after, follow });
    return stream;
  }

  /** Stores the change and publishes it. */
  change(changes: Partial<Run>): void {
    this.stored = { ...this.run, ...changes };
    this.pubsub.publish([`run:${this.run.id}`]);
  }

  async looked(count: number): Promise<void> {
    await waitFor(() => this.looks.length >= count, { what: `${count} looks` });
  }

  #read(after: number): readonly RunEvent[] {
    this.reads.push(after);
    const count = Math.max(0, (this.stored?.lastSeq ?? 0) - after);
    return Array.from({ length: count }, (_, index) => ({
      runId: this.run.id,
      seq: after + 1 + index,
      turn: 0,
      at: new Date(0),
      body: { kind: "agent.message", text: this.text },
    }));
  }
}

const benches: Harness[] = [];
function aHarness(run?: Run): Harness {
  const harness = new Harness(run);
  benches.push(harness);
  return harness;
}
afterEach(() => {
  for (const { streams } of benches.splice(0)) {
    for (const stream of streams) {
      stream.end();
    }
  }
});

describe("followers of a run", () => {
  test("followers of a run share one query, one page and one formatted text", async () => {
    const harness = aHarness();
    const streams = [harness.follow(), harness.follow(), harness.follow()];
    await harness.looked(1);

    harness.change({ lastSeq: 2 });
    await waitFor(() => streams.every(({ told }) => told.length === 1), { what: "the event" });

    const [first, ...others] = streams.map(({ pieces }) => pieces[0]);
    for (const piece of others) {
      expect(piece).toBe(first);
    }
    expect([harness.looks.length, harness.reads]).toEqual([2, [1]]);
  });

  test("each follower gets the events that it has not received", async () => {
    const harness = aHarness(aRun({ lastSeq: 3 }));

    const streams = [
      harness.follow({ after: 0 }),
      harness.follow({ after: 2 }),
      harness.follow({ after: 3 }),
    ];
    await harness.looked(1);
    harness.change({ lastSeq: 4 });
    await waitFor(() => streams.every(({ told }) => told.at(-1) === 4), { what: "the last event" });

    expect(streams.map(({ told }) => told)).toEqual([[1, 2, 3, 4], [3, 4], [4]]);
  });

  test("a follower gets events from between its own read of the run and its registration", async () => {
    const harness = aHarness();
    harness.stored = { ...harness.run, lastSeq: 2 };

    const first = harness.follow();
    await waitFor(() => first.told.length === 1, { what: "the event" });
    const second = harness.follow();
    await waitFor(() => second.told.length === 1, { what: "the event, once more" });

    expect([first.told, second.told, harness.looks.length]).toEqual([[2], [2], 1]);
  });

  test("a change during a query causes another query", async () => {
    const harness = aHarness();
    const { promise, resolve } = Promise.withResolvers<void>();
    harness.hold = promise;
    const stream = harness.follow();

    harness.change({ lastSeq: 2 });
    await Promise.resolve();
    resolve();
    await waitFor(() => stream.told.length === 1, { what: "the event" });

    expect(harness.looks.map((run) => run?.lastSeq)).toEqual([1, 2]);
  });

  test("a slow reader gets all events and does not delay other followers", async () => {
    const harness = aHarness();
    const [slow, quick] = [harness.follow(), harness.follow()];
    const { promise, resolve } = Promise.withResolvers<boolean>();
    slow.full = promise;
    harness.change({ lastSeq: 2 });
    await waitFor(() => slow.told.length === 1, { what: "the first event" });

    harness.change({ lastSeq: 3 });
    await waitFor(() => quick.told.length === 2, { what: "both events" });
    const meanwhile = [...slow.told];
    slow.full = undefined;
    resolve(true);
    await waitFor(() => slow.told.length === 2, { what: "the event that came meanwhile" });

    expect([meanwhile, slow.told, quick.told]).toEqual([[2], [2, 3], [2, 3]]);
  });

  test("followers get nothing if the run has not changed", async () => {
    const harness = aHarness();
    const stream = harness.follow();

    harness.change({ title: "Another" });
    await harness.looked(2);

    expect([harness.reads, stream.pieces, stream.isOver]).toEqual([[], [], false]);
  });

  test("a follower that may no longer see the run is disconnected, others are not", async () => {
    const harness = aHarness();
    const own = harness.follow();
    const strange = harness.follow({ viewerId: "another" as PrincipalId });

    harness.change({ teamOwned: false, lastSeq: 2 });
    await waitFor(() => own.told.length === 1, { what: "the event" });

    expect(strange.errors).toMatchObject([{ code: "resource_not_found" }]);
    expect([strange.told, own.isOver]).toEqual([[], false]);
  });

  test("a follower loses a hidden run at the next query, and the stream of a deleted run ends", async () => {
    const harness = aHarness();
    const strange = harness.follow({ viewerId: "another" as PrincipalId });
    const deleted = harness.follow();

    harness.change({ teamOwned: false });
    await waitFor(() => strange.isOver, { what: "the end" });
    const wasOver = deleted.isOver;
    harness.stored = undefined;
    harness.pubsub.publish([`run:${harness.run.id}`]);
    await waitFor(() => deleted.isOver, { what: "the end" });

    expect([wasOver, deleted.errors, strange.errors]).toMatchObject([
      false,
      [],
      [{ code: "resource_not_found" }],
    ]);
  });

  test("a stream ends after the last event of an ended run, unless it follows on", async () => {
    const harness = aHarness();
    const [ending, staying] = [harness.follow(), harness.follow({ follow: true })];
    const late = harness.follow({ found: { ...harness.run, state: "SUCCEEDED" } });

    harness.change({ state: "SUCCEEDED", lastSeq: 3 });
    await waitFor(() => ending.isOver, { what: "the end" });

    expect([ending.told, ending.errors]).toEqual([[2, 3], []]);
    expect([staying.told, staying.isOver]).toEqual([[2, 3], false]);
    expect([late.told, late.isOver]).toEqual([[], true]);
  });

  test("a failed query fails the streams, and a new follower causes a new query", async () => {
    const harness = aHarness();
    const stream = harness.follow();
    await harness.looked(1);
    harness.hold = Promise.reject(new Error("away"));
    harness.change({});
    await waitFor(() => stream.isOver, { what: "the end" });
    harness.hold = Promise.resolve();

    const next = harness.follow();
    harness.change({ lastSeq: 2 });
    await waitFor(() => next.told.length === 1, { what: "the event" });

    expect(stream.errors).toMatchObject([{ message: "away" }]);
  });

  test("small events are sent together and large events separately", async () => {
    const small = aHarness(aRun({ lastSeq: 101 }));
    const large = aHarness(aRun({ lastSeq: 4 }));
    large.text = "x".repeat(40_000);

    const streams = [small.follow(), large.follow()];
    await waitFor(() => streams.every(({ pieces }) => pieces.length > 0), { what: "the events" });

    expect(streams.map(({ pieces, told }) => [pieces.length, told.length])).toEqual([
      [1, 100],
      [3, 3],
    ]);
  });
});
