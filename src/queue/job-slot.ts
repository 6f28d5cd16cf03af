import type { PgBoss, Job as StoredJob } from "pg-boss";
import type { JobHandler, JobKind } from "../core/ports/queue.ts";

export interface SlotParts {
  readonly boss: Pick<PgBoss, "fetch" | "complete" | "fail" | "touch">;
  readonly kind: JobKind;
  /** Where it looks for jobs, one after the other. */
  readonly lanes: readonly number[];
  readonly handler: JobHandler;
  readonly stopping: AbortSignal;
  readonly pollingMs: number;
  readonly heartbeatMs: number;
  readonly log: (message: string, facts: Record<string, unknown>) => void;
}

type HeldJob = Pick<StoredJob<{ readonly key: string }>, "id" | "retryCount" | "data" | "expireInSeconds">;

/**
 * Takes jobs and has them handled, one at a time. The library's own workers each look into one place: several of them
 * could not share how much a process does at a time.
 */
export class JobSlot {
  readonly #parts: SlotParts;
  readonly #ended: Promise<void>;
  #held: HeldJob | undefined;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  /** Resolves once it has stopped and handles nothing any more. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** There may be a job. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Somebody else may do what is still being handled. */
  async abandon(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#settle(held, new Error("Its worker stopped."));
  }

  async #run(): Promise<void> {
    while (!this.#parts.stopping.aborted) {
      this.#isWoken = false;
      const job = await this.#take();
      if (job === undefined) await this.#rest();
      else await this.#perform(job);
    }
  }

  async #take(): Promise<HeldJob | undefined> {
    const { boss, kind, lanes, log } = this.#parts;
    try {
      for (const lane of lanes) {
        const [job] = await boss.fetch<{ key: string }>(kind, { minPriority: lane, maxPriority: lane });
        if (job !== undefined) return job;
      }
    } catch (error) {
      log("queue.error", { kind, error: String(error) });
    }
    return undefined;
  }

  /** Until it is woken, or for as long as news may have been lost. */
  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#isWoken ? 0 : this.#parts.pollingMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #perform(job: HeldJob): Promise<void> {
    this.#held = job;
    const error = await this.#handle(job);
    // One that was abandoned is settled already.
    if (this.#held !== job) return;
    this.#held = undefined;
    await this.#settle(job, error);
  }

  /** What the handler threw, if it did. */
  async #handle(job: HeldJob): Promise<Error | undefined> {
    const { handler, heartbeatMs, stopping } = this.#parts;
    const claim = new AbortController();
    const heart = setInterval(() => void this.#beat(job, claim), heartbeatMs);
    const tooLong = AbortSignal.timeout(job.expireInSeconds * 1_000);
    try {
      await handler(job.data.key, AbortSignal.any([stopping, claim.signal, tooLong]));
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearInterval(heart);
    }
  }

  /** Without this the job counts as a lost worker's, and is handed to somebody else. If it has been, we let it go. */
  async #beat(job: HeldJob, claim: AbortController): Promise<void> {
    const { boss, kind, log } = this.#parts;
    try {
      // The library's types leave out what it answers.
      const { affected } = (await boss.touch(kind, job)) as { readonly affected?: number };
      if (affected === 0) claim.abort(new Error("The job is somebody else's by now."));
    } catch (error) {
      log("queue.error", { kind, error: String(error) });
    }
  }

  /** What cannot be told now is found out by the missing heartbeat, and the job is handed out again. */
  async #settle(job: HeldJob, error: Error | undefined): Promise<void> {
    const { boss, kind, log, stopping } = this.#parts;
    try {
      if (error === undefined) await boss.complete(kind, job);
      else await boss.fail(kind, job, { message: error.message });
    } catch (cause) {
      log("queue.error", { kind, error: String(cause) });
    }
    if (error !== undefined && !stopping.aborted)
      log("job.failed", { kind, key: job.data.key, error: error.message });
  }
}
