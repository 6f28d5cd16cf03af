import type { PgBoss, Job as StoredJob } from "pg-boss";
import { PROCESS_TIMER } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import type { JobHandler, JobKind } from "../../core/ports/queue.ts";
import { type Task, WorkLoop } from "../../core/work/slots/work-loop.ts";

export interface QueueWorkerDeps extends ActiveJobDeps {
  readonly boss: ActiveJobDeps["boss"] & Pick<PgBoss, "fetch">;
  /** How many jobs are handled at a time. */
  readonly concurrency: number;
}

/**
 * Fetches the jobs of one kind and hands them to the handler. The library's `work` fetches one job after another, or waits
 * for all jobs of a batch.
 */
export class QueueWorker {
  readonly #deps: QueueWorkerDeps;
  readonly #active = new Set<ActiveJob>();
  readonly #loop: WorkLoop;

  constructor(deps: QueueWorkerDeps) {
    const { concurrency, kind, log, stopping } = deps;
    this.#deps = deps;
    this.#loop = new WorkLoop({
      concurrency,
      stopping,
      clock: PROCESS_TIMER,
      begin: (max, start) => this.#begin(max, start),
      mayBegin: async () => true,
      onError: (error) => log.warn("queue.error", { kind, error: String(error) }),
    });
  }

  /** Resolves when the worker has stopped and its last handler has returned. */
  get ended(): Promise<void> {
    return this.#loop.ended;
  }

  /** Call it when there may be a new job. */
  wake(): void {
    this.#loop.wake();
  }

  /** Fails all jobs that are still being handled, so that other processes are given them. */
  async abandon(): Promise<void> {
    await Promise.all(Array.from(this.#active, (job) => job.abandon()));
  }

  async #begin(max: number, start: (task: Task) => void): Promise<undefined> {
    const { boss, kind } = this.#deps;
    for (const job of await boss.fetch<{ key: string }>(kind, { batchSize: max })) {
      const active = new ActiveJob(this.#deps, job);
      this.#active.add(active);
      start(() => active.perform().finally(() => this.#active.delete(active)));
    }
  }
}

export interface ActiveJobDeps {
  readonly boss: Pick<PgBoss, "complete" | "fail" | "touch">;
  readonly kind: JobKind;
  readonly handler: JobHandler;
  readonly stopping: AbortSignal;
  /** Called when another process may have to take the job, or the next one of its key. */
  readonly onReturned: () => void;
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

  async perform(): Promise<void> {
    await this.#end(await this.#handle());
  }

  /** Fails the job although its handler still runs, so that another process is given it. */
  abandon(): Promise<void> {
    return this.#end(new Error("The worker of this job stopped."));
  }

  /** Returns what the handler threw. */
  async #handle(): Promise<Error | undefined> {
    const { handler, heartbeatMs, stopping } = this.#deps;
    const { data, expireInSeconds } = this.#job;
    const claim = new AbortController();
    const heartbeat = setInterval(() => void this.#beat(claim), heartbeatMs);
    const expiry = AbortSignal.timeout(expireInSeconds * 1_000);
    try {
      await handler(data.key, AbortSignal.any([stopping, claim.signal, expiry]));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearInterval(heartbeat);
    }
  }

  /**
   * Without heartbeats, the library treats the worker as lost and hands the job out again. A handler whose job was handed
   * out again is aborted.
   */
  async #beat(claim: AbortController): Promise<void> {
    const { boss, kind, log } = this.#deps;
    try {
      // The library's types leave out the result.
      const touched: { readonly affected?: number } = await boss.touch(this.#job.name, this.#job);
      if (touched.affected === 0) {
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
    const { boss, kind, log, onReturned, stopping } = this.#deps;
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
    if (error !== undefined || stopping.aborted) {
      onReturned();
    }
    if (error !== undefined && !stopping.aborted) {
      log.warn("job.failed", { kind, key: this.#job.data.key, error: error.message });
    }
  }
}
