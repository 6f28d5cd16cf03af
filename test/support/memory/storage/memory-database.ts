import type { Clock } from "../../../../src/core/ports/clock.ts";
import { CHANNELS, type PubSub } from "../../../../src/core/ports/pubsub.ts";
import type { Job } from "../../../../src/core/ports/queue.ts";
import { copyOf, emptyTables, type Tables } from "./tables.ts";

export interface MemoryStorageDeps {
  readonly clock: Clock;
  readonly pubsub: PubSub;
  /** Called within the transaction that makes the work; when it throws, nothing is stored. */
  readonly sendJobs: (jobs: readonly Job[]) => void | Promise<void>;
}

/** What one transaction reads and writes. */
export interface Tx {
  readonly tables: Tables;
  /** Milliseconds; the time by which leases and deliveries are judged. */
  readonly now: number;
  readonly jobs: Job[];
  readonly channels: string[];
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
  readonly #deps: MemoryStorageDeps;
  #tables = emptyTables();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: MemoryStorageDeps) {
    this.#deps = deps;
  }

  async read<T>(look: (tables: Tables, now: number) => T): Promise<T> {
    await Promise.resolve();
    return look(this.#tables, this.#deps.clock.now().getTime());
  }

  transaction<T>(work: (tx: Tx) => T): Promise<Awaited<T>> {
    const done = this.#last.then(() => this.#perform(work));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #perform<T>(work: (tx: Tx) => T): Promise<Awaited<T>> {
    const { clock, pubsub, sendJobs } = this.#deps;
    const tx: Tx = { tables: copyOf(this.#tables), now: clock.now().getTime(), jobs: [], channels: [] };
    const value = await work(tx);
    if (tx.jobs.length > 0) await sendJobs(tx.jobs);
    this.#tables = tx.tables;
    const channels = [...tx.channels, ...tx.jobs.map(({ kind }) => CHANNELS.jobs(kind))];
    if (channels.length > 0) pubsub.publish(channels);
    return value;
  }
}
