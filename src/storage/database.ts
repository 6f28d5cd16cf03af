import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { StorageUnavailable } from "../core/basics/errors.ts";
import type { Log } from "../core/basics/log.ts";
import { CopyIn } from "./copy-in.ts";
import {
  isWriteConflict,
  rethrowWithCode,
  translateFault,
  UNREACHABLE,
  withErrorCodes,
} from "./database-fault.ts";
import { type Prisma, PrismaClient } from "./generated/client.ts";
import { StatementNames } from "./statement-names.ts";
import { WriteProbe } from "./write-probe.ts";

/** A Prisma transaction, through which the rows of one change are written. */
export type Tx = Prisma.TransactionClient;

/** In PostgreSQL's syntax: `$1` stands for the first value. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Planned for its values each time, because no single plan is good for all values. */
  readonly isPlannedAnew?: boolean;
}

/** What stores use: the database, or one transaction of it. */
export interface Statements {
  query<T>(query: (client: Tx) => Promise<T>): Promise<T>;
  /** Runs `work` as one transaction. It is repeated after a serialisation failure, so it must be repeatable. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The rows of one statement, which is sent without Prisma's client. Used for the few statements that every request
   * waits for, because the client needs more than half of the processor time of a short statement
   * (docs/decisions/database.md). 64-bit numbers and decimals may arrive as text. Repeated like a transaction.
   */
  rows<Row extends object>(statement: Statement): Promise<readonly Row[]>;
}

/** Inside a transaction, every statement and every nested transaction is part of it. */
export function statementsOf(tx: Tx): Statements {
  const perform = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => work(tx);
  return {
    query: perform,
    transaction: perform,
    rows: ({ text, values }) => tx.$queryRawUnsafe(text, ...values),
  };
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** Whether the address is one of a pooler in transaction mode, whose sessions have all settings already. */
  readonly isPooled?: boolean;
  /** For statements with much data; the default fits short ones. */
  readonly statementMs?: number;
  readonly log: Log;
}

/** Without these three limits a silent connection blocks a query for ever, even after the network has recovered. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 4_000;
/**
 * A worker that freezes or is disconnected inside a transaction would otherwise keep its locks, and with them the
 * run, for ever.
 */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000;
/**
 * No statement is long enough for parallel workers or compilation, which take tens of milliseconds each. With this
 * similarity a word of four letters or more is found with one wrong, missing or additional letter.
 */
const SESSION_SETTINGS = {
  max_parallel_workers_per_gather: 0,
  jit: "off",
  "pg_trgm.word_similarity_threshold": 0.4,
} as const;
/** What the sessions of a pooler must have, because no client can set it for itself there. */
export const POOLED_SETTINGS = {
  ...SESSION_SETTINGS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
} as const;
const TRANSACTION_WAIT_MS = 2_000;
const TRANSACTION_TIMEOUT_MS = 8_000;
const CONFLICT_TRIES = 3;

/** The connection pool with its Prisma client. Every statement goes through `query` or `transaction`. */
export class Database implements Statements {
  readonly #pool: pg.Pool;
  readonly #adapter: PrismaPg;
  #client: PrismaClient | undefined;
  readonly #nameOf: (text: string) => string;
  readonly #probe: WriteProbe;

  constructor({ url, maxConnections, log, isPooled, statementMs = STATEMENT_TIMEOUT_MS }: DatabaseOptions) {
    const names = new StatementNames();
    // A session of a pooler does not know the statements that another session has prepared.
    this.#nameOf = isPooled === true ? () => "" : (text) => names.nameOf(text);
    this.#pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: statementMs,
      // PgBouncer refuses a connection that asks for these.
      ...(isPooled === true ? undefined : settingsOf(statementMs)),
      keepAlive: true,
      application_name: "errand",
    });
    // A broken idle connection is reported here. Without a listener it would end the process.
    this.#pool.on("error", (error) => log.warn("database.connection.lost", { error: error.message }));
    // A connection that breaks while it is handed out has no listener of the pool any more and none of the borrower
    // yet.
    this.#pool.on("connect", (client) => {
      client.on("error", () => undefined);
      client.query = withErrorCodes(client.query);
    });
    this.#pool.query = withErrorCodes(this.#pool.query);
    this.#pool.connect = withErrorCodes(this.#pool.connect);
    this.#probe = new WriteProbe((statement) => this.#pool.query(statement));
    this.#adapter = new PrismaPg(this.#pool, {
      statementNameGenerator: ({ sql }) => this.#nameOf(sql),
    });
  }

  /** Created on first use, which may never happen: a client takes 6 MiB, and its WebAssembly more than that. */
  get #prisma(): PrismaClient {
    this.#client ??= new PrismaClient({ adapter: this.#adapter });
    return this.#client;
  }

  async query<T>(query: (client: Tx) => Promise<T>): Promise<T> {
    try {
      return await query(this.#prisma);
    } catch (error) {
      throw translateFault(error);
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const limits = { maxWait: TRANSACTION_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS };
    return repeated(() => this.#prisma.$transaction(work, limits));
  }

  async rows<Row extends object>({ text, values, isPlannedAnew }: Statement): Promise<readonly Row[]> {
    const name = isPlannedAnew === true ? "" : this.#nameOf(text);
    return repeated(async () => (await this.#pool.query<Row>({ name, text, values: [...values] })).rows);
  }

  /** Performs a `COPY … FROM STDIN` as one statement. `pieces` are read as fast as the server takes them. */
  async copyIn(text: string, pieces: Iterable<Uint8Array>): Promise<void> {
    let client: pg.PoolClient | undefined;
    let isUsable = false;
    try {
      client = await this.#pool.connect();
      await client.query<CopyIn>(new CopyIn(text, pieces)).ended.catch(rethrowWithCode);
      isUsable = true;
    } catch (error) {
      throw translateFault(error);
    } finally {
      client?.release(!isUsable);
    }
  }

  /** Undefined when the database answers and can be written to, otherwise the reason. */
  async unusable(): Promise<string | undefined> {
    try {
      await this.rows({ text: "SELECT 1", values: [] });
      await this.#probe.check();
      return undefined;
    } catch (error) {
      return error instanceof StorageUnavailable ? error.message : UNREACHABLE;
    }
  }

  async close(): Promise<void> {
    await this.#client?.$disconnect();
    await this.#pool.end();
  }
}

function settingsOf(statementMs: number) {
  return {
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    options: Object.entries(SESSION_SETTINGS)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  };
}

/** Repeats a transaction that the database gave up because of others. Nothing of it was stored. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWriteConflict(error) || tries === CONFLICT_TRIES) {
        throw translateFault(error);
      }
    }
  }
}
