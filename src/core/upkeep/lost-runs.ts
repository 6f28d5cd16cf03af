import type { Clock } from "../basics/clock.ts";
import { StorageUnavailable } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Storage } from "../ports/stores/storage.ts";
import { logRunEnd } from "../runs/log-run-end.ts";
import type { NoticeWriter } from "../runs/notice-writer.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { type CallDeps, callNextOfTeam } from "../work/attempts/call-run.ts";
import { decideRecovery } from "../work/context/decide-attempt.ts";

export interface LostRunsDeps extends CallDeps {
  readonly storage: Pick<Storage, "claims" | "leases" | "runs" | "workers">;
  readonly writer: NoticeWriter;
  readonly clock: Clock;
}

const ROUND_MAX = 100;
/** Longer than the time between two renewals of a lease: a live owner has renewed its lease by then. */
const CONFIRM_LOST_MS = 4_500;
/** Longer than the time between two heartbeats. */
const SILENT_MS = 12_000;

/**
 * Takes runs away from lost workers. Every process does it, also one that is no worker, so that a run does not seem to be
 * worked on while no worker is left. If several processes find a run at once, one of them stores the change.
 */
export class LostRuns {
  readonly #deps: LostRunsDeps;
  #isBusy = false;
  /** For each run that the last query found lost: since when every query has found it. */
  #lostSince: ReadonlyMap<RunId, number> = new Map();

  constructor(deps: LostRunsDeps) {
    this.#deps = deps;
  }

  /** Runs one round at a time. The next round retries what failed. */
  async round(): Promise<void> {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    try {
      for (const runId of await this.#confirmed()) {
        await this.#recoverAlone(runId);
      }
    } catch (error) {
      this.#lostSince = new Map();
      this.#deps.log.warn("maintenance.query.failed", { error });
    } finally {
      this.#isBusy = false;
    }
  }

  /** Queues the run for another worker, or ends it. Nothing if its lease has not expired. */
  async recover(runId: RunId): Promise<void> {
    const { clock, log, storage, writer } = this.#deps;
    let lost: { readonly worker: string | undefined } | undefined;
    const run = await storage.runs.change(runId, (aggregate) => {
      lost = aggregate.leaseOver ? { worker: aggregate.run.lease?.worker } : undefined;
      if (lost === undefined) {
        return undefined;
      }
      const edit = new RunEdit(aggregate, { now: clock.now(), writer });
      decideRecovery(edit);
      return edit.done();
    });
    if (lost !== undefined) {
      log.warn("run.recovered", { runId });
      logRunEnd(log, run, lost.worker);
      await this.#removeWorker(lost.worker);
      await callNextOfTeam(this.#deps, run);
    }
  }

  /**
   * If the database was unreachable for longer than a lease, all leases have expired, and taking runs at once would
   * take them from live workers. So a run counts as lost only after every query has found it so for a while. A failed
   * query starts this over, and so does a recovery that could not be stored: leases could not be renewed either.
   */
  async #confirmed(): Promise<readonly RunId[]> {
    const { clock, storage } = this.#deps;
    const before = this.#lostSince;
    this.#lostSince = new Map();
    const lost = await storage.leases.listLost(ROUND_MAX);
    const now = clock.elapsedMs();
    this.#lostSince = new Map(lost.map((runId) => [runId, before.get(runId) ?? now]));
    return lost.filter((runId) => now - (before.get(runId) ?? now) >= CONFIRM_LOST_MS);
  }

  /** A run that cannot be recovered does not block the others. */
  async #recoverAlone(runId: RunId): Promise<void> {
    await this.recover(runId).catch((error) => {
      if (error instanceof StorageUnavailable) {
        throw error;
      }
      this.#deps.log.error("maintenance.recovery.failed", { runId, error });
    });
  }

  /** Its slots would count as free for some seconds more. A live worker is not silent for so long. */
  async #removeWorker(worker: string | undefined): Promise<void> {
    const { log, storage } = this.#deps;
    if (worker !== undefined) {
      await storage.workers
        .remove(worker, SILENT_MS)
        .catch((error) => log.warn("worker.not_removed", { error }));
    }
  }
}
