import type { Clock } from "../basics/clock.ts";
import { StorageUnavailable } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Log } from "../basics/log.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { JobKind, Queue } from "../ports/queue.ts";
import type { Storage } from "../ports/stores/storage.ts";
import type { ThreadAdapter } from "../ports/thread-adapter.ts";
import { runJob } from "../runs/run-job.ts";
import { giveUpUnanswered } from "../threads/inbox/environment-choice.ts";
import type { RunWorker } from "../work/attempts/run-worker.ts";

export interface MaintenanceDeps {
  readonly storage: Pick<
    Storage,
    | "deviceCodes"
    | "idempotentResponses"
    | "inbox"
    | "leases"
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
  /** Processed events and sent notices that are too old to be of use. */
  readonly history: { prune(): Promise<number> };
  /** This worker's files of runs that were deleted. */
  readonly deletedRuns: { prune(): Promise<number> };
  readonly queue: Queue;
  readonly runWorker: RunWorker;
  /** The name by which runs ask for this worker. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Log;
}

const ROUND_MAX = 100;
/** Longer than the time between two renewals of a lease: a live owner has renewed its lease by then. */
const CONFIRM_LOST_MS = 4_500;

/** Recovers the runs of lost workers and the work whose job was lost. Several processes may do this at once. */
export class Maintenance {
  readonly #deps: MaintenanceDeps;
  #isBusy = false;
  #isRecovering = false;
  #isRemoving = false;
  #hasDeletedRuns = false;
  /** For each run that the last query found lost: since when every query has found it. */
  #lostSince: ReadonlyMap<RunId, number> = new Map();

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
      for (const look of [this.#idleRuns, this.#openInboxKeys, this.#dueThreads, this.#unanswered]) {
        await look().catch((error) => this.#deps.log.warn("maintenance.query.failed", { error }));
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Recovers the runs of lost workers, separately from the rounds, so that they do not wait for anything else. */
  async recoverLost(): Promise<void> {
    if (this.#isRecovering) {
      return;
    }
    this.#isRecovering = true;
    try {
      for (const runId of await this.#confirmedLost()) {
        await this.#recover(runId);
      }
    } catch (error) {
      this.#lostSince = new Map();
      this.#deps.log.warn("maintenance.query.failed", { error });
    } finally {
      this.#isRecovering = false;
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
    await this.#prune("blobs", blobs);
    await this.#prune("bodies of events", { prune: () => storage.inbox.pruneBodies(eventBodyMs) });
    await this.#prune("processed events and sent notices", this.#deps.history);
    await this.removeDeletedRuns();
    await this.#prune("answers", storage.idempotentResponses);
    await this.#prune("share links", storage.shareLinks);
    await this.#prune("sign-ins", storage.signIns);
    await this.#prune("sign-in links", storage.signInLinks);
    await this.#prune("device codes", storage.deviceCodes);
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

  /**
   * If the database was unreachable for longer than a lease, all leases have expired, and taking runs at once would
   * take them from live workers. So a run counts as lost only after every query has found it so for a while. A failed
   * query starts this over, and so does a recovery that could not be stored: leases could not be renewed either.
   */
  async #confirmedLost(): Promise<readonly RunId[]> {
    const { clock, storage } = this.#deps;
    const before = this.#lostSince;
    this.#lostSince = new Map();
    const lost = await storage.leases.listLost(ROUND_MAX);
    const now = clock.elapsedMs();
    this.#lostSince = new Map(lost.map((runId) => [runId, before.get(runId) ?? now]));
    return lost.filter((runId) => now - (before.get(runId) ?? now) >= CONFIRM_LOST_MS);
  }

  /** A run that cannot be recovered does not block the others. */
  async #recover(runId: RunId): Promise<void> {
    const { log, runWorker } = this.#deps;
    await runWorker.recover(runId).catch((error) => {
      if (error instanceof StorageUnavailable) {
        throw error;
      }
      log.error("maintenance.recovery.failed", { runId, error });
    });
  }

  /** Runs for workers of another name are left to those. */
  #idleRuns = async (): Promise<void> => {
    const { host, queue, storage } = this.#deps;
    for (const run of await storage.leases.listIdle(host, ROUND_MAX)) {
      await queue.ensure(runJob(run));
    }
  };

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
