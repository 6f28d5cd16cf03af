import type { Clock } from "../../core/ports/clock.ts";
import type { News } from "../../core/ports/news.ts";
import type { Job } from "../../core/ports/queue.ts";
import { copyOf, emptyTables, type Tables } from "./tables.ts";

export interface MemoryStorageParts {
  readonly clock: Clock;
  readonly news: News;
  /** Called within the transaction that makes the work; when it throws, nothing is stored. */
  readonly sendJobs: (jobs: readonly Job[]) => void | Promise<void>;
}

/** What one transaction reads and writes. */
export interface Tx {
  readonly tables: Tables;
  /** Milliseconds; the time by which leases and deliveries are judged. */
  readonly now: number;
  readonly jobs: Job[];
  readonly topics: string[];
}

/** All rows, and one transaction after the other on them. */
export class MemoryDatabase {
  readonly #parts: MemoryStorageParts;
  #tables = emptyTables();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: MemoryStorageParts) {
    this.#parts = parts;
  }

  /** What is committed. */
  async read<T>(look: (tables: Tables, now: number) => T): Promise<T> {
    await Promise.resolve();
    return look(this.#tables, this.#parts.clock.now().getTime());
  }

  /** All of `work` or nothing; transactions wait for one another. */
  transaction<T>(work: (tx: Tx) => T): Promise<T> {
    const done = this.#last.then(() => this.#perform(work));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #perform<T>(work: (tx: Tx) => T): Promise<T> {
    const { clock, news, sendJobs } = this.#parts;
    const tx: Tx = { tables: copyOf(this.#tables), now: clock.now().getTime(), jobs: [], topics: [] };
    const value = work(tx);
    if (tx.jobs.length > 0) await sendJobs(tx.jobs);
    this.#tables = tx.tables;
    const topics = [...tx.topics, ...tx.jobs.map(({ kind }) => `jobs:${kind}`)];
    if (topics.length > 0) news.tell(topics);
    return value;
  }
}
