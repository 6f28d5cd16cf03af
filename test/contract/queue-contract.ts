import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Job, Queue } from "../../src/core/ports/queue.ts";

export interface QueueHarness {
  readonly queue: Queue;
  /** Stores jobs with a change that is committed. */
  send(...jobs: readonly Job[]): Promise<void>;
  /** Waits for a condition, while the time of the queue goes on. */
  until(check: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

/** A worker's queue, of a worker that goes by a name where one is given. */
export type OpenQueue = (host?: string) => Promise<QueueHarness>;

/** What every queue promises. */
export function describeQueue(name: string, open: OpenQueue): void {
  describe(`the ${name} queue`, () => {
    let harness: QueueHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it("hands a job that waits, and one that comes, to the handler of its kind", async () => {
      const work = new Work();
      await harness.send({ kind: "run", key: "waiting" });

      await harness.queue.work("run", 1, work.handler);
      await harness.queue.work("inbox", 1, new Work().handler);
      await harness.send({ kind: "inbox", key: "other" }, { kind: "run", key: "coming" });

      await harness.until(() => work.done.length === 2, "both jobs");
      expect(work.done).toEqual(["waiting", "coming"]);
    });

    // Runs guard themselves by their lease: for them a job too many finds nothing to do.
    it.each(["inbox", "deliver"] as const)(
      "handles one job of a key at a time, and others meanwhile (%s)",
      async (kind) => {
        const [work, other] = [new Work(true), new Work(true)];
        await harness.queue.work(kind, 4, work.handler);
        await harness.queue.work("run", 1, other.handler);

        await harness.send(
          { kind, key: "a" },
          { kind, key: "a" },
          { kind, key: "b" },
          { kind: "run", key: "a" },
        );

        await harness.until(() => work.open.length + other.open.length === 3, "three jobs at work");
        expect(work.open.toSorted()).toEqual(["a", "b"]);
        work.finish("a");
        await harness.until(() => work.started.length === 3, "the second job of the key");
        expect(work.started.toSorted()).toEqual(["a", "a", "b"]);
        for (const each of [work, other]) each.finishAll();
      },
    );

    it("handles a job that was sent while another of its key was handled", async () => {
      const work = new Work(true);
      await harness.queue.work("run", 2, work.handler);
      await harness.send({ kind: "run", key: "a" });
      await harness.until(() => work.open.length === 1, "the first job");

      await harness.send({ kind: "run", key: "a" });
      work.finish("a");

      await harness.until(() => work.started.length === 2, "the second job");
      work.finishAll();
    });

    it("handles at most as many as asked for", async () => {
      const work = new Work(true);
      await harness.queue.work("run", 2, work.handler);

      await harness.send(...["a", "b", "c"].map((key) => ({ kind: "run", key }) as const));

      await harness.until(() => work.open.length === 2, "two jobs");
      const [first = ""] = work.open;
      work.finish(first);
      await harness.until(() => work.started.length === 3, "the third job");
      expect(work.open).toHaveLength(2);
      work.finishAll();
    });

    it("hands a job out again when its handler throws", async () => {
      const work = new Work();
      work.failures = 1;
      await harness.queue.work("run", 1, work.handler);

      await harness.send({ kind: "run", key: "a" });

      await harness.until(() => work.done.length === 1, "the job to get done");
      expect(work.started).toEqual(["a", "a"]);
    });

    it("hands a job out when its time has come", async () => {
      const work = new Work();
      await harness.queue.work("deliver", 1, work.handler);

      await harness.send({ kind: "deliver", key: "later", afterMs: 1_000 }, { kind: "deliver", key: "now" });

      await harness.until(() => work.done.length === 2, "both jobs");
      expect(work.done).toEqual(["now", "later"]);
    });

    it("ensures that a job waits, once", async () => {
      const work = new Work();
      for (let index = 0; index < 5; index += 1) await harness.queue.ensure({ kind: "run", key: "a" });
      await harness.queue.ensure({ kind: "inbox", key: "a" });
      await harness.queue.ensure({ kind: "run", key: "last" });

      await harness.queue.work("run", 1, work.handler);

      await harness.until(() => work.done.includes("last"), "the last job");
      expect(work.done).toEqual(["a", "last"]);
    });

    it("ensures no job beside one that waits for its time", async () => {
      const work = new Work();
      await harness.send({ kind: "run", key: "a", afterMs: 1_000 });
      await harness.queue.ensure({ kind: "run", key: "a" });
      await harness.queue.ensure({ kind: "run", key: "last", afterMs: 2_000 });

      await harness.queue.work("run", 1, work.handler);

      await harness.until(() => work.done.includes("last"), "the last job");
      expect(work.done).toEqual(["a", "last"]);
    });

    it("ensures a job beside one that is being handled", async () => {
      const work = new Work(true);
      await harness.queue.work("run", 1, work.handler);
      await harness.queue.ensure({ kind: "run", key: "a" });
      await harness.until(() => work.open.length === 1, "the first job");

      await harness.queue.ensure({ kind: "run", key: "a" });
      work.finish("a");

      await harness.until(() => work.started.length === 2, "the second job");
      work.finishAll();
    });

    it("stops: signals its handlers, waits for them, and takes no more", async () => {
      const work = new Work(true);
      await harness.queue.work("run", 1, work.handler);
      await harness.send({ kind: "run", key: "a" }, { kind: "run", key: "b" });
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

    it("stops although a handler does not end", async () => {
      const work = new Work(true);
      await harness.queue.work("run", 1, work.handler);
      await harness.send({ kind: "run", key: "a" });
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

/** Which jobs are given to which workers. */
export function describeHosts(name: string, open: OpenQueue): void {
  describe(`the ${name} queue, with workers that go by names,`, () => {
    const opened: QueueHarness[] = [];
    afterEach(async () => {
      for (const harness of opened.splice(0)) await harness.close();
    });
    const openFor = async (host?: string) => {
      const harness = await open(host);
      opened.push(harness);
      return harness;
    };

    it("gives a job that asks for a name to a worker of that name, beside everybody's", async () => {
      const [harness, work] = [await openFor("build-box"), new Work()];
      await harness.send(
        { kind: "run", key: "elsewhere", host: "other-box" },
        { kind: "run", key: "anywhere" },
        { kind: "run", key: "here", host: "build-box" },
      );

      await harness.queue.work("run", 1, work.handler);
      await harness.until(() => work.done.length === 2, "both jobs");
      await harness.send({ kind: "run", key: "last" });
      await harness.until(() => work.done.length === 3, "the last job");

      expect(work.done.toSorted()).toEqual(["anywhere", "here", "last"]);
    });

    it("gives a worker without a name no job that asks for one", async () => {
      const [harness, work] = [await openFor(), new Work()];
      await harness.send(
        { kind: "run", key: "elsewhere", host: "other-box" },
        { kind: "run", key: "anywhere" },
      );

      await harness.queue.work("run", 1, work.handler);
      await harness.until(() => work.done.length === 1, "the job");
      await harness.send({ kind: "run", key: "last" });
      await harness.until(() => work.done.includes("last"), "the last job");

      expect(work.done).toEqual(["anywhere", "last"]);
    });

    it("counts both kinds against how many a worker may handle", async () => {
      const [harness, work] = [await openFor("build-box"), new Work(true)];
      await harness.queue.work("run", 2, work.handler);

      await harness.send(
        ...["a", "b"].map((key) => ({ kind: "run", key, host: "build-box" }) as const),
        ...["c", "d"].map((key) => ({ kind: "run", key }) as const),
      );

      await harness.until(() => work.open.length === 2, "two jobs");
      work.finish(work.open[0] ?? "");
      await harness.until(() => work.started.length === 3, "the third job");
      expect(work.open).toHaveLength(2);
      work.finishAll();
    });

    it.each(["Büro 2", "a/b'c%d", "box.example.com", "🛠"])(
      "gives the jobs of a name to its worker, whatever its characters (%s)",
      async (host) => {
        const [harness, work] = [await openFor(host), new Work()];
        await harness.send(
          { kind: "run", key: "here", host },
          { kind: "run", key: "there", host: `${host}2` },
        );

        await harness.queue.work("run", 1, work.handler);
        await harness.send({ kind: "run", key: "last" });
        await harness.until(() => work.done.includes("last"), "the last job");

        expect(work.done).toEqual(["here", "last"]);
      },
    );

    it("ensures a job for a name", async () => {
      const [harness, work] = [await openFor("build-box"), new Work()];
      for (let index = 0; index < 3; index += 1) {
        await harness.queue.ensure({ kind: "run", key: "here", host: "build-box" });
        await harness.queue.ensure({ kind: "run", key: "elsewhere", host: "other-box" });
      }
      await harness.queue.ensure({ kind: "run", key: "last" });

      await harness.queue.work("run", 1, work.handler);

      await harness.until(() => work.done.includes("last"), "the last job");
      expect(work.done).toEqual(["here", "last"]);
    });
  });
}

/** A handler that writes down what it is given, and ends when it is told to. */
export class Work {
  readonly started: string[] = [];
  readonly done: string[] = [];
  readonly signals: AbortSignal[] = [];
  /** How many of the next jobs fail. */
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
    if (this.#isHeld && !this.#isOver) await this.#hold(key);
    this.failures -= 1;
    if (this.failures >= 0) throw new Error("not this time");
    this.done.push(key);
  };

  finish(key: string): void {
    const job = this.#open.find((open) => open.key === key);
    this.#open = this.#open.filter((open) => open !== job);
    job?.finish();
  }

  finishAll(): void {
    this.#isOver = true;
    for (const key of this.open) this.finish(key);
  }

  #hold(key: string): Promise<void> {
    return new Promise((resolve) => {
      this.#open.push({ key, finish: resolve });
    });
  }
}
