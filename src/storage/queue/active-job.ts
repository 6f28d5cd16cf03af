import type { PgBoss, Job as StoredJob } from "pg-boss";
import type { Log } from "../../core/basics/log.ts";
import type { JobHandler, JobKind, Slot } from "../../core/ports/queue.ts";

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
      const { affected } = (await boss.touch(this.#job.name, this.#job)) as { readonly affected?: number };
      if (affected === 0 && kind !== "run") {
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
