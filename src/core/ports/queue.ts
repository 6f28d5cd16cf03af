/**
 * A job says "there is work for `key`", never what the work is: order and state live in the tables. Jobs are
 * stored in the transaction that makes the work. At most one `inbox` or `deliver` job of a key is handled at a
 * time; two jobs of a run or a schedule may meet, and the run's lease or the schedule's lock decides. A job whose worker
 * dies is handed out again. Handlers can be repeated safely.
 */
export interface Job {
  readonly kind: JobKind;
  /** A run's id, a lane of the inbox, a thread's id, a schedule's id. */
  readonly key: string;
  /** Only workers of this name are given the job. */
  readonly host?: string;
  readonly afterMs?: number;
}

export const JOB_KINDS = ["run", "inbox", "deliver", "schedule"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/**
 * A handler that throws has its job handed out again, later each time. `signal` fires when the worker stops, or takes too
 * long, or when the job is somebody else's by now: but for a run's, whose lease decides that.
 */
export type JobHandler = (key: string, signal: AbortSignal) => Promise<void>;

/** Hands jobs to this process, and takes those that are not part of a change: the rest come with its transaction. */
export interface Queue {
  /** Begins to hand jobs of a kind to `handler`, at most `concurrency` at a time in this process. */
  work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void>;
  /** Stores a job outside of any other change, unless one of its kind and key is waiting already. */
  ensure(job: Job): Promise<void>;
  /** Takes no more jobs, fires the handlers' signals, waits for them up to `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
