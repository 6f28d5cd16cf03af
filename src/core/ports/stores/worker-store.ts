import type { LiveWorker, Worker } from "../../model/workers/worker.ts";

/**
 * Stores which worker processes are alive. All times are the database's, because the clocks of workers may differ.
 */
export interface WorkerStore {
  /** Records that the worker is alive. Deletes workers that have been silent for long. */
  beat(worker: Worker): Promise<void>;
  /** The worker has stopped, or is lost: then it is removed only if it has been silent for `silentMs`. */
  remove(id: string, silentMs?: number): Promise<void>;
  /** Workers with a recent heartbeat, oldest first. */
  listLive(): Promise<readonly LiveWorker[]>;
  /** The load of the live workers, grouped by the name by which runs ask for them. */
  listLoads(): Promise<readonly HostLoad[]>;
}

/** The load of the workers with one name, or of those without a name. */
export interface HostLoad {
  readonly host?: string;
  readonly slots: number;
  /** Those of workers whose disk has no space for another run. */
  readonly crowdedSlots?: number;
  /**
   * The number of slots that runs have. A run that is BLOCKED has none, and a run whose answered question waits for a slot
   * counts only up to the slots of its worker.
   */
  readonly taken: number;
}
