/**
 * A job says "there is work for `key`", never what the work is: order and state live in the tables. Jobs are stored in
 * the transaction that makes the work. At most one `inbox` or `deliver` job of a key is handled at a time. Two jobs of
 * the same run or schedule may be handled at once: the run's lease or the schedule's lock decides. A job whose worker
 * dies is handed out again. Handlers can be repeated safely.
 */
export interface Job {
  readonly kind: JobKind;
  /** A run's id, an ordering key of the inbox, a thread's id, a schedule's id. */
  readonly key: string;
  /**
   * Only workers of this name are given the job. For a name that no worker has had yet, no job is stored: the
   * maintenance of the first worker of that name ensures it.
   */
  readonly host?: string;
  /** Only the worker of this data directory is given the job. The same key needs another job for all workers. */
  readonly disk?: string;
  readonly afterMs?: number;
  /** The job has the place in its queue of one that was stored at this time. Undefined: the last place. */
  readonly since?: Date | undefined;
}

export const JOB_KINDS = ["run", "inbox", "deliver", "schedule"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/**
 * If a handler throws, its job is handed out again, later each time. `signal` fires when the worker stops, when the job
 * takes too long, and when another worker has been given the job (except a run, where the lease decides).
 */
export type JobHandler = (key: string, signal: AbortSignal, slot: Slot) => Promise<void>;

/** The place of a job among those that its process handles at a time. A handler has it at its start. */
export interface Slot {
  /**
   * Gives the slot back while the handler waits for something that needs no worker: a person, or the image of a container.
   * Another job begins meanwhile.
   */
  release(): void;
  /**
   * Resolves when the handler has a slot again: the next free one, ahead of all jobs that have not begun. Also resolves when
   * `signal` is aborted, then without a slot: the handler only cleans up. Does nothing for a handler that has its slot.
   */
  reacquire(signal: AbortSignal): Promise<void>;
}

/** Hands jobs to this process. Jobs that belong to a change are stored with its transaction, not through this port. */
export interface Queue {
  /**
   * Begins to hand jobs of a kind to `handler`, and none while `mayTake` says no. It is asked before each look for jobs. At
   * most `concurrency` handlers have a slot at a time in this process.
   */
  work(
    kind: JobKind,
    concurrency: number,
    handler: JobHandler,
    mayTake?: () => Promise<boolean>,
  ): Promise<void>;
  /** Stores a job outside of any other change, unless one of its kind and key is waiting already. */
  ensure(job: Job): Promise<void>;
  /** Takes no more jobs, fires the handlers' signals, waits for them up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
