import type { RunWorker } from "./attempts/run-worker.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Log } from "./ports/log.ts";
import type { JobKind, Queue } from "./ports/queue.ts";
import type { Storage } from "./ports/storage.ts";
import { runJob } from "./runs/run-job.ts";

export interface JanitorParts {
  readonly storage: Storage;
  readonly blobs: Pick<BlobStore, "prune">;
  readonly queue: Queue;
  readonly runWorker: RunWorker;
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  readonly log: Log;
}

const ROUND_MAX = 100;

/** Finds what was left lying: runs of lost workers, and work whose job was lost. Any number may do it at once. */
export class Janitor {
  readonly #parts: JanitorParts;
  #isBusy = false;

  constructor(parts: JanitorParts) {
    this.#parts = parts;
  }

  /** One round at a time. What fails is left to the next one, which is soon. */
  async round(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (const look of [this.#lostRuns, this.#idleRuns, this.#openLanes, this.#dueThreads]) {
        await look().catch((error) => this.#parts.log.warn("janitor.look.failed", { error }));
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Seldom: it looks through all there is. */
  async prune(): Promise<void> {
    const { blobs, log, storage } = this.#parts;
    for (const [what, pruned] of [
      ["blobs", blobs],
      ["answers", storage.answers],
    ] as const) {
      try {
        for (let count = await pruned.prune(); count > 0; count = await pruned.prune())
          log.info("janitor.pruned", { what, count });
      } catch (error) {
        log.warn("janitor.prune.failed", { what, error });
      }
    }
  }

  /** One run that cannot be recovered must not keep the others from it. */
  #lostRuns = async (): Promise<void> => {
    const { log, runWorker, storage } = this.#parts;
    for (const runId of await storage.leases.listLost(ROUND_MAX)) {
      await runWorker.recover(runId).catch((error) => log.error("janitor.recovery.failed", { runId, error }));
    }
  };

  /** Those that ask for workers of another name are left to them. */
  #idleRuns = async (): Promise<void> => {
    const { host, queue, storage } = this.#parts;
    for (const run of await storage.leases.listIdle(host, ROUND_MAX)) await queue.ensure(runJob(run));
  };

  #openLanes = async (): Promise<void> =>
    this.#ensure("inbox", await this.#parts.storage.inbox.listOpenLanes(ROUND_MAX));

  #dueThreads = async (): Promise<void> =>
    this.#ensure("deliver", await this.#parts.storage.outbox.listDue(ROUND_MAX));

  async #ensure(kind: JobKind, keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#parts.queue.ensure({ kind, key });
  }
}
