import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { AppError } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { Prisma, PrismaClient } from "./generated/client.ts";
import { StatementNames } from "./statement-names.ts";

/** A Prisma transaction: what the rows of one change are written through. */
export type Tx = Prisma.TransactionClient;

/** As PostgreSQL takes it: `$1` stands for the first value. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Planned for these very values each time, for where no one plan is good for all. */
  readonly isPlannedAnew?: boolean;
}

/** What stores work on: the database, or one transaction of it. */
export interface Statements {
  query<T>(query: (client: Tx) => Promise<T>): Promise<T>;
  /** All of `work` or nothing. Repeated when the database could not serialise it, so it must be repeatable. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * The rows of one statement, sent as it is. For the few that every request waits for: of a short statement's processor
   * time, Prisma's client takes more than half (docs/decisions/0011). 64-bit numbers and decimals may come as text.
   * Repeated as a transaction is.
   */
  rows<Row extends object>(statement: Statement): Promise<readonly Row[]>;
}

/** Within a transaction, every statement and every transaction is a part of it. */
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
  /** For statements that carry much; the default is made for short ones. */
  readonly statementMs?: number;
  readonly log: Log;
}

/** Without these three a silent link hangs a query for ever, and goes on hanging after the link has healed. */
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 4_000;
/** A worker that is frozen or cut off within a transaction would keep its locks, and with them the run, for ever. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000;
/** No statement is so long that it were worth starting processes for it or compiling it, and each takes tens of ms. */
const SETTINGS = "-c max_parallel_workers_per_gather=0 -c jit=off";
const TRANSACTION_WAIT_MS = 2_000;
const TRANSACTION_TIMEOUT_MS = 8_000;
const CONFLICT_TRIES = 3;

/** The pool and the Prisma client on it; every statement goes through `query` or `transaction`. */
export class Database implements Statements {
  readonly #pool: pg.Pool;
  readonly #adapter: PrismaPg;
  #client: PrismaClient | undefined;
  readonly #names = new StatementNames();

  constructor({ url, maxConnections, log, statementMs = STATEMENT_TIMEOUT_MS }: DatabaseOptions) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: statementMs,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
      options: SETTINGS,
      keepAlive: true,
      application_name: "errand",
    });
    // An idle connection that breaks is reported here, and would take the process down without a listener.
    this.#pool.on("error", (error) => log.warn("database.connection.lost", { error: error.message }));
    // One that breaks just as it is handed out has lost the pool's listener and not yet got the borrower's.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
    this.#adapter = new PrismaPg(this.#pool, {
      statementNameGenerator: ({ sql }) => this.#names.nameOf(sql),
    });
  }

  /** Made when it is first needed, which may be never: one holds 6 MiB, and its WebAssembly more than that. */
  get #prisma(): PrismaClient {
    this.#client ??= new PrismaClient({ adapter: this.#adapter });
    return this.#client;
  }

  async query<T>(query: (client: Tx) => Promise<T>): Promise<T> {
    try {
      return await query(this.#prisma);
    } catch (error) {
      throw translated(error);
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const limits = { maxWait: TRANSACTION_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS };
    return repeated(() => this.#prisma.$transaction(work, limits));
  }

  async rows<Row extends object>({ text, values, isPlannedAnew }: Statement): Promise<readonly Row[]> {
    const name = isPlannedAnew === true ? "" : this.#names.nameOf(text);
    return repeated(async () => (await this.#pool.query<Row>({ name, text, values: [...values] })).rows);
  }

  /** Undefined when the database answers, else why it does not. */
  async unreachable(): Promise<string | undefined> {
    try {
      await this.#pool.query("SELECT 1");
      return undefined;
    } catch {
      return "The database cannot be reached.";
    }
  }

  async close(): Promise<void> {
    await this.#client?.$disconnect();
    await this.#pool.end();
  }
}

/** Does again what the database gave up for the sake of others: nothing of it is stored. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWriteConflict(error) || tries === CONFLICT_TRIES) throw translated(error);
    }
  }
}

/** Of PostgreSQL, for a transaction that could not be serialised and for a deadlock. */
const CONFLICT_CODES = new Set(["40001", "40P01"]);

/** Prisma has a code of its own for them, but not for statements that it sends as they are. */
function isWriteConflict(error: unknown): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError))
    return error instanceof pg.DatabaseError && CONFLICT_CODES.has(error.code ?? "");
  const { driverAdapterError } = (error.meta ?? {}) as {
    driverAdapterError?: { cause?: { kind?: unknown } };
  };
  return error.code === "P2034" || driverAdapterError?.cause?.kind === "TransactionWriteConflict";
}

/** Codes of Prisma for a database that cannot be reached, is starting or does not answer in time. */
const UNREACHABLE = new Set(["P1000", "P1001", "P1002", "P1008", "P1011", "P1017", "P2024", "P2028"]);
const LOST_LINK =
  /ECONNREFUSED|ECONNRESET|EPIPE|ENOENT.*\.s\.PGSQL|timeout|Connection terminated|not queryable|server closed|DatabaseNotReachable|ConnectionClosed|SocketTimeout|57P0\d|25P03|canceling statement|terminating connection|closed the connection|starting up|recovery mode|not yet accepting|shutting down|too many clients/i;

/** A database that is away, or busy with the same rows, is an expected failure that passes; all else is a bug. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  if (isWriteConflict(error)) return unavailable("Others are changing the same.", error);
  const code = "code" in error ? String(error.code) : "";
  if (!UNREACHABLE.has(code) && !LOST_LINK.test(`${code} ${error.message} ${String(error.cause ?? "")}`))
    return error;
  return unavailable("The database cannot be reached.", error);
}

function unavailable(message: string, cause: Error): AppError {
  return new AppError("resource_unavailable", message, { cause, retryAfterMs: 1_000 });
}
