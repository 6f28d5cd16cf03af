import type { PgBoss } from "pg-boss";
import { ActiveJob, type ActiveJobDeps } from "./active-job.ts";

export interface QueueWorkerDeps extends ActiveJobDeps {
  readonly boss: ActiveJobDeps["boss"] & Pick<PgBoss, "fetch">;
  /** The first one has precedence. */
  readonly queues: readonly string[];
  /** The limit over all queues together. */
  readonly concurrency: number;
  readonly mayTake: () => Promise<boolean>;
  readonly pollingMs: number;
}

/**
 * Fetches the jobs of one kind and hands them to the handler. The library's `work` reads one queue, and two calls of it
 * cannot share a limit: a worker with a host name has two queues. One fetch asks for as many jobs as there is room for.
 */
export class QueueWorker {
  readonly #deps: QueueWorkerDeps;
  readonly #active = new Map<ActiveJob, Promise<void>>();
  readonly #ended: Promise<void>;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(deps: QueueWorkerDeps) {
    this.#deps = deps;
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
    const { boss, concurrency, kind, log, mayTake, queues } = this.#deps;
    try {
      if (!(await mayTake())) {
        return;
      }
      for (const queue of queues) {
        const batchSize = concurrency - this.#active.size;
        if (batchSize === 0) {
          return;
        }
        for (const job of await boss.fetch<{ key: string }>(queue, { batchSize })) {
          this.#start(new ActiveJob(this.#deps, job));
        }
      }
    } catch (error) {
      log.warn("queue.error", { kind, error: String(error) });
    }
  }

  #start(job: ActiveJob): void {
    const performed = job.perform().finally(() => {
      this.#active.delete(job);
      this.wake();
    });
    this.#active.set(job, performed);
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
