import type { PgBoss, Job as StoredJob } from "pg-boss";
import type { Log } from "../../core/basics/log.ts";
import type { JobHandler, JobKind, Slot } from "../../core/ports/queue.ts";
import { Slots } from "../../core/work/slots/slots.ts";

export interface QueueWorkerDeps extends ActiveJobDeps {
  readonly boss: ActiveJobDeps["boss"] & Pick<PgBoss, "fetch">;
  /** The first one has precedence. */
  readonly queues: readonly string[];
  /** The number of slots for all queues together. */
  readonly concurrency: number;
  readonly mayTake: () => Promise<boolean>;
  readonly pollingMs: number;
}

/**
 * Fetches the jobs of one kind and hands them to the handler. The library's `work` reads one queue, and two calls of it
 * cannot share a limit: a worker with a host name has two queues. Its life:
 *
 * 1. It fetches as many jobs as there are free slots, first from the queue with precedence.
 * 2. Each job is an `ActiveJob` in a slot. The handler may release the slot while it waits, and ask for one again.
 * 3. Without new jobs it rests until it is woken by a message, by a free slot, or by the poll, which finds lost messages.
 * 4. When the process stops, it fetches no more, and `ended` resolves once the last handler has returned.
 * 5. `abandon` fails the jobs that are still handled, so that other processes get them.
 */
export class QueueWorker {
  readonly #deps: QueueWorkerDeps;
  readonly #active = new Map<ActiveJob, Promise<void>>();
  readonly #ended: Promise<void>;
  readonly #slots: Slots;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(deps: QueueWorkerDeps) {
    this.#deps = deps;
    this.#slots = new Slots(deps.concurrency, () => this.wake());
    this.#ended = this.#run();
  }

  /** Resolves when the worker has stopped and its last handler has returned. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Call it when there may be a new job. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Fails all jobs that are still being handled, so that other processes are given them. */
  async abandon(): Promise<void> {
    await Promise.all(Array.from(this.#active.keys(), (job) => job.abandon()));
  }

  async #run(): Promise<void> {
    while (!this.#deps.stopping.aborted) {
      this.#isWoken = false;
      await this.#fetch();
      if (!this.#isWoken) {
        await this.#rest();
      }
    }
    await Promise.all(this.#active.values());
  }

  async #fetch(): Promise<void> {
    const { kind, log, mayTake, queues } = this.#deps;
    try {
      if (!(await mayTake())) {
        return;
      }
      for (const queue of queues) {
        if (this.#slots.free > 0) {
          await this.#fetchFrom(queue);
        }
      }
    } catch (error) {
      log.warn("queue.error", { kind, error: String(error) });
    }
  }

  /** The slots are taken before the fetch, because a handler may ask for its slot again meanwhile. */
  async #fetchFrom(queue: string): Promise<void> {
    const batchSize = this.#slots.free;
    this.#slots.take(batchSize);
    let started = 0;
    try {
      for (const job of await this.#deps.boss.fetch<{ key: string }>(queue, { batchSize })) {
        started += 1;
        this.#start(job);
      }
    } finally {
      this.#slots.returnUnused(batchSize - started);
    }
  }

  #start(job: FetchedJob): void {
    const slot = this.#slots.slotOfJob();
    const active = new ActiveJob(this.#deps, job);
    const performed = active.perform(slot).finally(() => {
      this.#active.delete(active);
      slot.end();
    });
    this.#active.set(active, performed);
  }

  /** Waits until it is woken. Polling finds jobs whose message was lost, and jobs whose time has come. */
  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#deps.pollingMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

export interface ActiveJobDeps {
  readonly boss: Pick<PgBoss, "complete" | "fail" | "touch">;
  readonly kind: JobKind;
  readonly handler: JobHandler;
  readonly stopping: AbortSignal;
  readonly heartbeatMs: number;
  readonly log: Log;
}

export type FetchedJob = Pick<
  StoredJob<{ readonly key: string }>,
  "id" | "name" | "retryCount" | "data" | "expireInSeconds"
>;

/** A job of this process, from the fetch to its completion or failure. */
export class ActiveJob {
  readonly #deps: ActiveJobDeps;
  readonly #job: FetchedJob;
  #isEnded = false;

  constructor(deps: ActiveJobDeps, job: FetchedJob) {
    this.#deps = deps;
    this.#job = job;
  }

  async perform(slot: Slot): Promise<void> {
    await this.#end(await this.#handle(slot));
  }

  /** Fails the job although its handler still runs, so that another process is given it. */
  abandon(): Promise<void> {
    return this.#end(new Error("The worker of this job stopped."));
  }

  /** Returns what the handler threw. */
  async #handle(slot: Slot): Promise<Error | undefined> {
    const { handler, heartbeatMs, stopping } = this.#deps;
    const { data, expireInSeconds } = this.#job;
    const claim = new AbortController();
    const heartbeat = setInterval(() => void this.#beat(claim), heartbeatMs);
    const expiry = AbortSignal.timeout(expireInSeconds * 1_000);
    try {
      await handler(data.key, AbortSignal.any([stopping, claim.signal, expiry]), slot);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearInterval(heartbeat);
    }
  }

  /**
   * Without heartbeats, the library treats the worker as lost and hands the job out again. A handler whose job was handed
   * out again is aborted. A run is the exception: its lease decides who may work on it, and the second worker finds it
   * taken.
   */
  async #beat(claim: AbortController): Promise<void> {
    const { boss, kind, log } = this.#deps;
    try {
      // The library's types leave out the result.
      const touched: { readonly affected?: number } = await boss.touch(this.#job.name, this.#job);
      if (touched.affected === 0 && kind !== "run") {
        claim.abort(new Error("Another worker has the job."));
      }
    } catch (error) {
      log.warn("queue.error", { kind, error: String(error) });
    }
  }

  /**
   * Runs once: an abandoned job has ended already. If the database cannot be told, the heartbeats are missing and the job
   * is handed out again.
   */
  async #end(error: Error | undefined): Promise<void> {
    const { boss, kind, log, stopping } = this.#deps;
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    try {
      if (error === undefined) {
        await boss.complete(this.#job.name, this.#job);
      } else {
        await boss.fail(this.#job.name, this.#job, { message: error.message });
      }
    } catch (cause) {
      log.warn("queue.error", { kind, error: String(cause) });
    }
    if (error !== undefined && !stopping.aborted) {
      log.warn("job.failed", { kind, key: this.#job.data.key, error: error.message });
    }
  }
}
