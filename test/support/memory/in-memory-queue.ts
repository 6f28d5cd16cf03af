import { type Clock, withTimeout } from "../../../src/core/basics/clock.ts";
import type { Job, JobHandler, JobKind, Queue } from "../../../src/core/ports/queue.ts";
import { Slots } from "../../../src/core/work/slots/slots.ts";

interface WaitingJob {
  readonly job: Job;
  readonly dueAt: number;
  readonly since: number;
  readonly failures: number;
}

interface Worker {
  readonly handler: JobHandler;
  readonly slots: Slots;
}

const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/** An in-memory fake of the queue. */
export class InMemoryQueue implements Queue {
  readonly #clock: Clock;
  readonly #workers = new Map<JobKind, Worker>();
  readonly #active = new Map<WaitingJob, Promise<void>>();
  readonly #stopping = new AbortController();
  #waiting: readonly WaitingJob[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void> {
    this.#workers.set(kind, { handler, slots: new Slots(concurrency, () => this.#handOut()) });
    this.#handOut();
  }

  async ensure(job: Job): Promise<void> {
    const isWaiting = this.#waiting.some((waiting) => nameOf(waiting.job) === nameOf(job));
    if (!isWaiting) {
      this.sendJobs([job]);
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await withTimeout(Promise.all(this.#active.values()), graceMs, { clock: this.#clock });
  }

  /** Stores jobs. They are handed out when the caller's transaction has ended. */
  readonly sendJobs = (jobs: readonly Job[]): void => {
    for (const job of jobs) {
      this.#keep(job, job.afterMs ?? 0, 0);
    }
  };

  /** Waiting jobs and those that are being handled. */
  list(): readonly Job[] {
    return this.#waiting.map(({ job }) => job);
  }

  /** True while a job is being handled. */
  get isBusy(): boolean {
    return this.#active.size > 0;
  }

  #keep(job: Job, afterMs: number, failures: number): void {
    const now = this.#clock.now().getTime();
    const waiting = { job, dueAt: now + afterMs, since: now, failures };
    this.#waiting = [...this.#waiting, waiting].sort((a, b) => a.since - b.since);
    if (afterMs > 0) {
      this.#clock.after(afterMs, () => this.#handOut());
    } else {
      queueMicrotask(() => this.#handOut());
    }
  }

  #handOut(): void {
    if (this.#stopping.signal.aborted) {
      return;
    }
    const now = this.#clock.now().getTime();
    for (const waiting of this.#waiting) {
      const worker = this.#workers.get(waiting.job.kind);
      const isFree = worker !== undefined && worker.slots.free > 0 && !this.#isHeldBack(waiting.job);
      if (isFree && waiting.dueAt <= now) {
        this.#start(waiting, worker);
      }
    }
  }

  /** Two jobs of the same schedule may be handled at once. */
  #isHeldBack(job: Job): boolean {
    const isSame = (other: WaitingJob) => nameOf(other.job) === nameOf(job);
    return job.kind !== "schedule" && [...this.#active.keys()].some(isSame);
  }

  #start(waiting: WaitingJob, worker: Worker): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    worker.slots.take(1);
    const slot = worker.slots.slotOfJob();
    const done = this.#perform(waiting, worker.handler).finally(() => {
      this.#active.delete(waiting);
      slot.end();
      this.#handOut();
    });
    this.#active.set(waiting, done);
  }

  async #perform({ job, failures }: WaitingJob, handler: JobHandler): Promise<void> {
    try {
      await handler(job.key, this.#stopping.signal);
    } catch {
      this.#keep(job, Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** failures), failures + 1);
    }
  }
}

function nameOf({ kind, key }: Job): string {
  return `${kind} ${key}`;
}
