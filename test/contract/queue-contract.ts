import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Job, Queue } from "../../src/core/ports/queue.ts";

export interface QueueHarness {
  readonly queue: Queue;
  /** Stores jobs in a committed transaction. */
  send(...jobs: readonly Job[]): Promise<void>;
  /** Waits for a condition while the time of the queue passes. */
  until(check: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenQueue = () => Promise<QueueHarness>;

/** Tests that every implementation of the queue must pass. */
export function describeQueue(name: string, open: OpenQueue): void {
  describe(`the ${name} queue`, () => {
    let harness: QueueHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test("waiting and new jobs are handed to the handler of their kind", async () => {
      const work = new Work();
      await harness.send({ kind: "schedule", key: "waiting" });

      await harness.queue.work("schedule", 1, work.handler);
      await harness.queue.work("inbox", 1, new Work().handler);
      await harness.send({ kind: "inbox", key: "other" }, { kind: "schedule", key: "coming" });

      await harness.until(() => work.done.length === 2, "both jobs");
      expect(work.done).toEqual(["waiting", "coming"]);
    });

    // Schedules are protected by a lock: a superfluous job for a schedule has no effect.
    test.each(["inbox", "deliver"] as const)(
      "jobs of one key are handled one at a time, and others meanwhile (%s)",
      async (kind) => {
        const [work, other] = [new Work(true), new Work(true)];
        await harness.queue.work(kind, 4, work.handler);
        await harness.queue.work("schedule", 1, other.handler);

        await harness.send(
          { kind, key: "a" },
          { kind, key: "a" },
          { kind, key: "b" },
          { kind: "schedule", key: "a" },
        );

        await harness.until(() => work.open.length + other.open.length === 3, "three jobs at work");
        expect(work.open.toSorted()).toEqual(["a", "b"]);
        work.finish("a");
        await harness.until(() => work.started.length === 3, "the second job of the key");
        expect(work.started.toSorted()).toEqual(["a", "a", "b"]);
        for (const each of [work, other]) {
          each.finishAll();
        }
      },
    );

    test("a job that was sent while another of its key was handled is handled afterwards", async () => {
      const work = new Work(true);
      await harness.queue.work("schedule", 2, work.handler);
      await harness.send({ kind: "schedule", key: "a" });
      await harness.until(() => work.open.length === 1, "the first job");

      await harness.send({ kind: "schedule", key: "a" });
      work.finish("a");

      await harness.until(() => work.started.length === 2, "the second job");
      work.finishAll();
    });

    test("at most the configured number of jobs is handled at a time", async () => {
      const work = new Work(true);
      await harness.queue.work("schedule", 2, work.handler);

      await harness.send(...["a", "b", "c"].map((key) => ({ kind: "schedule", key }) as const));

      await harness.until(() => work.open.length === 2, "two jobs");
      const [first = ""] = work.open;
      work.finish(first);
      await harness.until(() => work.started.length === 3, "the third job");
      expect(work.open).toHaveLength(2);
      work.finishAll();
    });

    test("a job whose handler throws is handed out again", async () => {
      const work = new Work();
      work.failures = 1;
      await harness.queue.work("schedule", 1, work.handler);

      await harness.send({ kind: "schedule", key: "a" });

      await harness.until(() => work.done.length === 1, "the job to get done");
      expect(work.started).toEqual(["a", "a"]);
    });

    test("a delayed job is handed out when it is due", async () => {
      const work = new Work();
      await harness.queue.work("deliver", 1, work.handler);

      await harness.send({ kind: "deliver", key: "later", afterMs: 1_000 }, { kind: "deliver", key: "now" });

      await harness.until(() => work.done.length === 2, "both jobs");
      expect(work.done).toEqual(["now", "later"]);
    });

    test("ensuring a job twice makes one job wait", async () => {
      const work = new Work();
      for (let index = 0; index < 5; index += 1) {
        await harness.queue.ensure({ kind: "schedule", key: "a" });
      }
      await harness.queue.ensure({ kind: "inbox", key: "a" });
      await harness.queue.ensure({ kind: "schedule", key: "last" });

      await harness.queue.work("schedule", 1, work.handler);

      await harness.until(() => work.done.includes("last"), "the last job");
      expect(work.done).toEqual(["a", "last"]);
    });

    test("ensuring a job adds none if a delayed one waits", async () => {
      const work = new Work();
      await harness.send({ kind: "schedule", key: "a", afterMs: 1_000 });
      await harness.queue.ensure({ kind: "schedule", key: "a" });
      await harness.queue.ensure({ kind: "schedule", key: "last", afterMs: 2_000 });

      await harness.queue.work("schedule", 1, work.handler);

      await harness.until(() => work.done.includes("last"), "the last job");
      expect(work.done).toEqual(["a", "last"]);
    });

    test("ensuring a job adds one while another is being handled", async () => {
      const work = new Work(true);
      await harness.queue.work("schedule", 1, work.handler);
      await harness.queue.ensure({ kind: "schedule", key: "a" });
      await harness.until(() => work.open.length === 1, "the first job");

      await harness.queue.ensure({ kind: "schedule", key: "a" });
      work.finish("a");

      await harness.until(() => work.started.length === 2, "the second job");
      work.finishAll();
    });

    test("stopping signals the handlers, waits for them and takes no more jobs", async () => {
      const work = new Work(true);
      await harness.queue.work("schedule", 1, work.handler);
      await harness.send({ kind: "schedule", key: "a" }, { kind: "schedule", key: "b" });
      await harness.until(() => work.open.length === 1, "the first job");

      let isStopped = false;
      const stopping = harness.queue.stop(20_000).then(() => {
        isStopped = true;
      });
      await harness.until(() => work.signals[0]?.aborted === true, "the signal");
      expect(isStopped).toBe(false);
      work.finishAll();
      await harness.until(() => isStopped, "the queue to stop");

      await stopping;
      expect(work.started).toHaveLength(1);
    });

    test("stopping ends even if a handler does not", async () => {
      const work = new Work(true);
      await harness.queue.work("schedule", 1, work.handler);
      await harness.send({ kind: "schedule", key: "a" });
      await harness.until(() => work.open.length === 1, "the job");

      let isStopped = false;
      const stopping = harness.queue.stop(500).then(() => {
        isStopped = true;
      });

      await harness.until(() => isStopped, "the queue to stop");
      await stopping;
      work.finishAll();
    });
  });
}

/** A handler that records its jobs and ends each when the test tells it to. */
export class Work {
  readonly started: string[] = [];
  readonly done: string[] = [];
  readonly signals: AbortSignal[] = [];
  /** The number of next jobs that fail. */
  failures = 0;
  readonly #isHeld: boolean;
  #isOver = false;
  #open: { readonly key: string; readonly finish: () => void }[] = [];

  constructor(isHeld = false) {
    this.#isHeld = isHeld;
  }

  get open(): readonly string[] {
    return this.#open.map(({ key }) => key);
  }

  readonly handler = async (key: string, signal: AbortSignal): Promise<void> => {
    this.started.push(key);
    this.signals.push(signal);
    if (this.#isHeld && !this.#isOver) {
      await this.#hold(key);
    }
    this.failures -= 1;
    if (this.failures >= 0) {
      throw new Error("not this time");
    }
    this.done.push(key);
  };

  finish(key: string): void {
    const job = this.#open.find((open) => open.key === key);
    this.#open = this.#open.filter((open) => open !== job);
    job?.finish();
  }

  finishAll(): void {
    this.#isOver = true;
    for (const key of this.open) {
      this.finish(key);
    }
  }

  #hold(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.#open.push({ key, finish: resolve });
    });
  }
}
