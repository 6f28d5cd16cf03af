import type { PgBoss } from "pg-boss";
import { HeldJob, type HeldJobDeps } from "./held-job.ts";

export interface TakerDeps extends HeldJobDeps {
  readonly boss: HeldJobDeps["boss"] & Pick<PgBoss, "fetch">;
  /** Where it looks for jobs, one after the other. */
  readonly lanes: readonly number[];
  /** How many are handled at a time. */
  readonly room: number;
  readonly pollingMs: number;
}

/**
 * Takes the jobs of a kind and has them handled. It looks once for as many as it has room for: were each place to look for
 * itself, every new job would be searched for by all that are free. The library's own workers each look into one
 * place, and several of them could not share how much a process does at a time.
 */
export class JobTaker {
  readonly #deps: TakerDeps;
  readonly #held = new Map<HeldJob, Promise<void>>();
  readonly #ended: Promise<void>;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(deps: TakerDeps) {
    this.#deps = deps;
    this.#ended = this.#run();
  }

  /** Resolves once it has stopped and handles nothing any more. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** There may be a job, or room for one. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Somebody else may do what is still being handled. */
  async abandon(): Promise<void> {
    await Promise.all(Array.from(this.#held.keys(), (job) => job.abandon()));
  }

  async #run(): Promise<void> {
    while (!this.#deps.stopping.aborted) {
      this.#isWoken = false;
      await this.#take();
      if (!this.#isWoken) await this.#rest();
    }
    await Promise.all(this.#held.values());
  }

  async #take(): Promise<void> {
    const { boss, kind, lanes, log, room } = this.#deps;
    try {
      for (const lane of lanes) {
        const batchSize = room - this.#held.size;
        if (batchSize === 0) return;
        const options = { minPriority: lane, maxPriority: lane, batchSize };
        for (const job of await boss.fetch<{ key: string }>(kind, options))
          this.#hold(new HeldJob(this.#deps, job));
      }
    } catch (error) {
      log.warn("queue.error", { kind, error: String(error) });
    }
  }

  #hold(job: HeldJob): void {
    const performed = job.perform().finally(() => {
      this.#held.delete(job);
      this.wake();
    });
    this.#held.set(job, performed);
  }

  /** Until it is woken, or for as long as news may have been lost. */
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
