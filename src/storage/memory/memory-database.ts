import type { Clock } from "../../core/ports/clock.ts";
import { type News, TOPICS } from "../../core/ports/news.ts";
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

/** What stores work on: the database, or one transaction of it. */
export interface MemoryStatements {
  /** What is committed. */
  read<T>(look: (tables: Tables, now: number) => T): Promise<T>;
  /** All of `work` or nothing; transactions wait for one another. */
  transaction<T>(work: (tx: Tx) => T): Promise<Awaited<T>>;
}

/** Within a transaction, every look and every transaction is a part of it. */
export function statementsOf(tx: Tx): MemoryStatements {
  return {
    read: async (look) => look(tx.tables, tx.now),
    transaction: async <T>(work: (tx: Tx) => T): Promise<Awaited<T>> => await work(tx),
  };
}

/** All rows, and one transaction after the other on them. */
export class MemoryDatabase implements MemoryStatements {
  readonly #parts: MemoryStorageParts;
  #tables = emptyTables();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: MemoryStorageParts) {
    this.#parts = parts;
  }

  async read<T>(look: (tables: Tables, now: number) => T): Promise<T> {
    await Promise.resolve();
    return look(this.#tables, this.#parts.clock.now().getTime());
  }

  transaction<T>(work: (tx: Tx) => T): Promise<Awaited<T>> {
    const done = this.#last.then(() => this.#perform(work));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #perform<T>(work: (tx: Tx) => T): Promise<Awaited<T>> {
    const { clock, news, sendJobs } = this.#parts;
    const tx: Tx = { tables: copyOf(this.#tables), now: clock.now().getTime(), jobs: [], topics: [] };
    const value = await work(tx);
    if (tx.jobs.length > 0) await sendJobs(tx.jobs);
    this.#tables = tx.tables;
    const topics = [...tx.topics, ...tx.jobs.map(({ kind }) => TOPICS.jobs(kind))];
    if (topics.length > 0) news.tell(topics);
    return value;
  }
}
