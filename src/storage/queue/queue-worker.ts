import type { PgBoss } from "pg-boss";
import { Slots } from "../../core/work/slots/slots.ts";
import { ActiveJob, type ActiveJobDeps, type FetchedJob } from "./active-job.ts";

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
