import type { Clock, Stop } from "../basics/clock.ts";
import { StorageUnavailable } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Log } from "../basics/log.ts";
import { CHANNELS, type PubSub } from "../ports/pubsub.ts";
import type { Storage } from "../ports/stores/storage.ts";
import { logRunEnd } from "../runs/log-run-end.ts";
import type { NoticeWriter } from "../runs/notice-writer.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { decideRecovery } from "../work/context/decide-attempt.ts";

export interface LostRunsDeps {
  readonly storage: Pick<Storage, "leases" | "runs" | "workers">;
  readonly pubsub: Pick<PubSub, "publish">;
  readonly writer: NoticeWriter;
  readonly clock: Clock;
  readonly log: Log;
}

const ROUND_MAX = 1_000;
/** The time between two rounds, and the shortest one. A round also comes when a lease is about to expire. */
const ROUND_MS = 1_500;
const ROUND_MIN_MS = 50;
/** A worker renews its leases long before so little is left. */
const EXPIRING_MS = 4_000;
/** Longer than two renewals of a lease: a live owner has renewed its lease by then. */
const CONFIRM_LOST_MS = 2_200;
/** A worker that stood still may renew its leases late. They are left to it for this time after their end. */
const LATE_MS = 500;
/** After a longer pause, this process or the database stood still, and workers perhaps too. */
const PAUSE_MAX_MS = 3_000;
/**
 * Shorter than a lease: a lost worker has been silent for as long, whenever its last heartbeat was. Otherwise its run would
 * wait for it, because it has the files. A live worker that is removed by mistake is back with its next heartbeat.
 */
const SILENT_MS = 6_500;

/**
 * Takes runs away from lost workers. Every process does it, also one that is no worker, so that a run does not seem to be
 * worked on while no worker is left. If several processes find a run at once, one of them stores the change.
 */
export class LostRuns {
  readonly #deps: LostRunsDeps;
  /** For each run whose lease the last query found expiring: since when every query has found it. */
  #expiringSince: ReadonlyMap<RunId, number> = new Map();
  #queriedAt = 0;

  constructor(deps: LostRunsDeps) {
    this.#deps = deps;
  }

  /** Runs one round after another. The next round retries what failed. */
  start(): Stop {
    let isStopped = false;
    let stopTimer: Stop = () => undefined;
    const look = async () => {
      const waitMs = await this.round();
      if (!isStopped) {
        stopTimer = this.#deps.clock.after(waitMs, () => void look());
      }
    };
    void look();
    return () => {
      isStopped = true;
      stopTimer();
    };
  }

  /** Returns the time to the next round. */
  async round(): Promise<number> {
    try {
      const { lost, waitMs } = await this.#confirmed();
      for (const runId of lost) {
        await this.#recoverAlone(runId);
      }
      return waitMs;
    } catch (error) {
      this.#expiringSince = new Map();
      this.#deps.log.warn("maintenance.query.failed", { error });
      return ROUND_MS;
    }
  }

  /** Queues the run for another worker, or ends it. Nothing if its lease has not expired. */
  async recover(runId: RunId): Promise<void> {
    const { clock, log, pubsub, storage, writer } = this.#deps;
    const { leaseOver, run: found } = await storage.runs.getAggregate(runId);
    if (!leaseOver) {
      return;
    }
    await this.#removeWorker(found.lease?.worker);
    let isLost = false;
    const run = await storage.runs.change(runId, (aggregate) => {
      isLost = aggregate.leaseOver;
      if (!isLost) {
        return undefined;
      }
      const edit = new RunEdit(aggregate, { now: clock.now(), writer });
      decideRecovery(edit);
      return edit.done();
    });
    if (isLost) {
      log.warn("run.recovered", { runId });
      logRunEnd(log, run, found.lease?.worker);
      // Its team may have been at its quota, and there is room for the next run.
      pubsub.publish([CHANNELS.runQueue]);
    }
  }

  /**
   * If the database was unreachable for longer than a lease, all leases have expired, and taking runs at once would
   * take them from live workers. So a run counts as lost only if its lease has expired, and every query has found it
   * expiring for a while. A failed query starts this over, and so does a long pause, or a recovery that could not be
   * stored: leases could not be renewed either. The while begins before the lease expires, so it delays nothing else.
   */
  async #confirmed(): Promise<{ readonly lost: readonly RunId[]; readonly waitMs: number }> {
    const { clock, storage } = this.#deps;
    const before = this.#expiringSince;
    this.#expiringSince = new Map();
    const leases = await storage.leases.listExpiring(EXPIRING_MS, ROUND_MAX);
    const now = clock.elapsedMs();
    const isContinued = now - this.#queriedAt <= PAUSE_MAX_MS;
    this.#queriedAt = now;
    const sinceOf = (runId: RunId) => (isContinued ? before.get(runId) : undefined) ?? now;
    this.#expiringSince = new Map(leases.map(({ runId }) => [runId, sinceOf(runId)]));
    const waits = leases.map(({ remainingMs, runId }) =>
      Math.max(remainingMs + LATE_MS, CONFIRM_LOST_MS - (now - sinceOf(runId))),
    );
    return {
      lost: leases.filter((_, index) => (waits[index] ?? 0) < 0).map(({ runId }) => runId),
      waitMs: Math.max(ROUND_MIN_MS, Math.min(ROUND_MS, ...waits.filter((ms) => ms >= 0))),
    };
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

  /** Its slots would count as free for some seconds more. It happens before another worker asks for the run. */
  async #removeWorker(worker: string | undefined): Promise<void> {
    const { log, storage } = this.#deps;
    if (worker !== undefined) {
      await storage.workers
        .remove(worker, SILENT_MS)
        .catch((error) => log.warn("worker.not_removed", { error }));
    }
  }
}
