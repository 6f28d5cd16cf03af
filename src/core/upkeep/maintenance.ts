import type { Clock } from "../basics/clock.ts";
import type { Log } from "../basics/log.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { JobKind, Queue } from "../ports/queue.ts";
import type { Storage } from "../ports/stores/storage.ts";
import type { ThreadAdapter } from "../ports/thread-adapter.ts";
import { giveUpUnanswered } from "../threads/inbox/environment-choice.ts";

export interface MaintenanceDeps {
  readonly storage: Pick<
    Storage,
    | "deviceCodes"
    | "idempotentResponses"
    | "inbox"
    | "keys"
    | "outbox"
    | "shareLinks"
    | "signInLinks"
    | "signIns"
    | "threads"
  >;
  readonly adapters: ReadonlyMap<string, ThreadAdapter>;
  readonly blobs: Pick<BlobStore, "prune">;
  /** How long the body of an event of an integration is kept after its result. */
  readonly eventBodyMs: number;
  /** Checkpoints of runs that ended long ago, of which the work alone is kept. */
  readonly checkpoints: { prune(): Promise<number> };
  /** What joined principals still have. */
  readonly joins: { prune(): Promise<number> };
  /** Processed events and sent notices that are too old to be of use. */
  readonly history: { prune(): Promise<number> };
  /** This worker's files of runs that were deleted. */
  readonly deletedRuns: { prune(): Promise<number> };
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
}

const ROUND_MAX = 100;

/** Finds the work whose job was lost, and removes what is too old. Several processes may do this at once. */
export class Maintenance {
  readonly #deps: MaintenanceDeps;
  #isBusy = false;
  #isRemoving = false;
  #hasDeletedRuns = false;

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
  }

  /** Runs one round at a time. The next round retries what failed. */
  async round(): Promise<void> {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    try {
      for (const look of [this.#openInboxKeys, this.#dueThreads, this.#unanswered]) {
        await look().catch((error) => this.#deps.log.warn("maintenance.query.failed", { error }));
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Removes this worker's files of runs that were deleted. Calls during a removal lead to one more. */
  async removeDeletedRuns(): Promise<void> {
    this.#hasDeletedRuns = true;
    if (this.#isRemoving) {
      return;
    }
    this.#isRemoving = true;
    try {
      while (this.#hasDeletedRuns) {
        this.#hasDeletedRuns = false;
        await this.#prune("files of deleted runs", this.#deps.deletedRuns);
      }
    } finally {
      this.#isRemoving = false;
    }
  }

  /** Runs rarely, because it reads everything. */
  async prune(): Promise<void> {
    const { blobs, eventBodyMs, storage } = this.#deps;
    await this.#prune("checkpoints of ended runs", this.#deps.checkpoints);
    await this.#prune("rows of joined principals", this.#deps.joins);
    await this.#prune("blobs", blobs);
    await this.#prune("bodies of events", { prune: () => storage.inbox.pruneBodies(eventBodyMs) });
    await this.#prune("processed events and sent notices", this.#deps.history);
    await this.removeDeletedRuns();
    await this.#prune("answers", storage.idempotentResponses);
    await this.#prune("share links", storage.shareLinks);
    await this.#prune("sign-ins", storage.signIns);
    await this.#prune("sign-in links", storage.signInLinks);
    await this.#prune("device codes", storage.deviceCodes);
    await this.#prune("expired keys", storage.keys);
    await this.#prune("paces", { prune: () => storage.outbox.prunePaces() });
  }

  async #prune(what: string, pruned: { prune(): Promise<number> }): Promise<void> {
    const { log } = this.#deps;
    try {
      for (let count = await pruned.prune(); count > 0; count = await pruned.prune()) {
        log.info("maintenance.pruned", { what, count });
      }
    } catch (error) {
      log.warn("maintenance.prune.failed", { what, error });
    }
  }

  #openInboxKeys = async (): Promise<void> =>
    this.#ensure("inbox", await this.#deps.storage.inbox.listOpenOrderingKeys(ROUND_MAX));

  #dueThreads = async (): Promise<void> =>
    this.#ensure("deliver", await this.#deps.storage.outbox.listDue(ROUND_MAX));

  #unanswered = async (): Promise<void> => giveUpUnanswered(this.#deps, ROUND_MAX);

  async #ensure(kind: JobKind, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#deps.queue.ensure({ kind, key });
    }
  }
}
