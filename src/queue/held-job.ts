import type { PgBoss, Job as StoredJob } from "pg-boss";
import type { Log } from "../core/ports/log.ts";
import type { JobHandler, JobKind } from "../core/ports/queue.ts";

export interface HeldJobDeps {
  readonly boss: Pick<PgBoss, "complete" | "fail" | "touch">;
  readonly kind: JobKind;
  readonly handler: JobHandler;
  readonly stopping: AbortSignal;
  readonly heartbeatMs: number;
  readonly log: Log;
}

export type FetchedJob = Pick<
  StoredJob<{ readonly key: string }>,
  "id" | "retryCount" | "data" | "expireInSeconds"
>;

/** A job from its being taken to its being settled. */
export class HeldJob {
  readonly #deps: HeldJobDeps;
  readonly #job: FetchedJob;
  #isSettled = false;

  constructor(deps: HeldJobDeps, job: FetchedJob) {
    this.#deps = deps;
    this.#job = job;
  }

  async perform(): Promise<void> {
    await this.#settle(await this.#handle());
  }

  /** Somebody else may do what is still being handled. */
  abandon(): Promise<void> {
    return this.#settle(new Error("Its worker stopped."));
  }

  /** What the handler threw, if it did. */
  async #handle(): Promise<Error | undefined> {
    const { handler, heartbeatMs, stopping } = this.#deps;
    const { data, expireInSeconds } = this.#job;
    const claim = new AbortController();
    const heart = setInterval(() => void this.#beat(claim), heartbeatMs);
    const tooLong = AbortSignal.timeout(expireInSeconds * 1_000);
    try {
      await handler(data.key, AbortSignal.any([stopping, claim.signal, tooLong]));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearInterval(heart);
    }
  }

  /**
   * Without this the job counts as a lost worker's, and is handed to somebody else. If it has been, we let it go, but for
   * a run: whose that is its lease says, and who is handed the job finds it taken.
   */
  async #beat(claim: AbortController): Promise<void> {
    const { boss, kind, log } = this.#deps;
    try {
      // The library's types leave out what it answers.
      const { affected } = (await boss.touch(kind, this.#job)) as { readonly affected?: number };
      if (affected === 0 && kind !== "run") claim.abort(new Error("The job is somebody else's by now."));
    } catch (error) {
      log.warn("queue.error", { kind, error: String(error) });
    }
  }

  /**
   * Once: what was abandoned is settled already. What cannot be told now is found out by the missing heartbeat, and the
   * job is handed out again.
   */
  async #settle(error: Error | undefined): Promise<void> {
    const { boss, kind, log, stopping } = this.#deps;
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      if (error === undefined) await boss.complete(kind, this.#job);
      else await boss.fail(kind, this.#job, { message: error.message });
    } catch (cause) {
      log.warn("queue.error", { kind, error: String(cause) });
    }
    if (error !== undefined && !stopping.aborted)
      log.warn("job.failed", { kind, key: this.#job.data.key, error: error.message });
  }
}
