/**
 * A job says "there is work for `key`", never what the work is: order and state live in the tables. Jobs are stored in
 * the transaction that makes the work. At most one `inbox` or `deliver` job of a key is handled at a time. Two jobs of
 * the same schedule may be handled at once: the schedule's lock decides. A job whose worker dies is handed out again.
 * Handlers can be repeated safely. Runs have no jobs: a worker claims them from their own queue (`ClaimStore`).
 */
export interface Job {
  readonly kind: JobKind;
  /** An ordering key of the inbox, a thread's id, a schedule's id. */
  readonly key: string;
  readonly afterMs?: number;
}

export const JOB_KINDS = ["inbox", "deliver", "schedule"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/**
 * If a handler throws, its job is handed out again, later each time. `signal` fires when the worker stops, when the job
 * takes too long, and when another worker has been given the job.
 */
export type JobHandler = (key: string, signal: AbortSignal) => Promise<void>;

/** The place of a run among those that its process works on at a time. An attempt has it at its start. */
export interface Slot {
  /**
   * Gives the slot back while the attempt waits for something that needs no worker: a person. Another run begins
   * meanwhile.
   */
  release(): void;
  /**
   * Resolves when the attempt has a slot again: the next free one, ahead of all runs that have not begun. Also resolves when
   * `signal` is aborted, then without a slot: the attempt only cleans up. Does nothing for an attempt that has its slot.
   */
  reacquire(signal: AbortSignal): Promise<void>;
}

/** Hands jobs to this process. Jobs that belong to a change are stored with its transaction, not through this port. */
export interface Queue {
  /** Begins to hand jobs of a kind to `handler`, at most `concurrency` at a time in this process. */
  work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void>;
  /** Stores a job outside of any other change, unless one of its kind and key is waiting already. */
  ensure(job: Job): Promise<void>;
  /** Takes no more jobs, fires the handlers' signals, waits for them up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
