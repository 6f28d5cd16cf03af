import type { LiveWorker, Worker } from "./worker.ts";

/** Which worker processes live. All times are the database's: the workers' clocks may differ. */
export interface WorkerStore {
  /** The worker lives now. Forgets those that have been silent for long. */
  beat(worker: Worker): Promise<void>;
  /** The worker has stopped. */
  remove(id: string): Promise<void>;
  /** Those that were heard of a moment ago, the oldest first. */
  listLive(): Promise<readonly LiveWorker[]>;
  /** Of the live workers that take runs for `host`, or of all where a run names none. */
  load(host: string | undefined): Promise<Load>;
}

export interface Load {
  readonly slots: number;
  /** Runs that they hold a lease of. */
  readonly taken: number;
}
