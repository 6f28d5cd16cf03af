import type { Clock } from "../../../../src/core/basics/clock.ts";
import { CHANNELS, type PubSub } from "../../../../src/core/ports/pubsub.ts";
import type { Job } from "../../../../src/core/ports/queue.ts";
import { copyOf, emptyTables, type Tables } from "./tables.ts";

export interface InMemoryStorageDeps {
  readonly clock: Clock;
  readonly pubsub: PubSub;
  /** Called within the transaction that creates the work. If it throws, nothing is stored. */
  readonly sendJobs: (jobs: readonly Job[]) => void | Promise<void>;
}

/** The reads and writes of one transaction. */
export interface Tx {
  readonly tables: Tables;
  /** Milliseconds; the time by which leases and deliveries are judged. */
  readonly now: number;
  readonly jobs: Job[];
  readonly channels: string[];
}

/** What stores work on: the database, or one of its transactions. */
export interface InMemoryStatements {
  /** Reads committed rows. */
  read<T>(look: (tables: Tables, now: number) => T): Promise<T>;
  /** Commits all of `work` or nothing. Transactions run one after another. */
  transaction<T>(work: (tx: Tx) => T): Promise<Awaited<T>>;
}

/** Within a transaction, every read and every nested transaction is a part of it. */
export function statementsOf(tx: Tx): InMemoryStatements {
  return {
    read: async (look) => look(tx.tables, tx.now),
    transaction: async <T>(work: (tx: Tx) => T): Promise<Awaited<T>> => await work(tx),
  };
}

/** All rows. Transactions on them run one after another. */
export class InMemoryDatabase implements InMemoryStatements {
  readonly #deps: InMemoryStorageDeps;
  #tables = emptyTables();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: InMemoryStorageDeps) {
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
    if (tx.jobs.length > 0) {
      await sendJobs(tx.jobs);
    }
    this.#tables = tx.tables;
    const channels = [...tx.channels, ...tx.jobs.map(({ kind }) => CHANNELS.jobs(kind))];
    if (channels.length > 0) {
      pubsub.publish(channels);
    }
    return value;
  }
}
