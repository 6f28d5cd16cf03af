import pg from "pg";
import { AppError, StorageUnavailable } from "../core/basics/errors.ts";

/** The code that `withErrorCodes` gives to errors of the driver. */
const DRIVER_ERROR = "ERR_DATABASE_DRIVER";

/** Serialisation failure and deadlock: PostgreSQL gave up the transaction because of others. */
const CONFLICTS: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** A statement that took too long, or waited too long for a lock. The same statement may always take too long. */
const TOO_SLOW: ReadonlySet<string> = new Set(["57014", "55P03"]);

/**
 * SQLSTATE codes, and classes of two characters, of a server that cannot do this now and will be able to without a
 * change of Errand. All other codes are bugs.
 */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  // Connections: lost, refused, not authenticated, no such database. The last three are repaired by the operator.
  ...["08", "28", "3D000"],
  // Resources: a full disk, too little memory, no free connection slot.
  "53",
  // The operator: shutdown, start, crash, recovery, a dropped database.
  "57",
  // Input and output errors of the server's machine.
  ...["58000", "58030"],
  // A standby, or a server that the operator has made read-only.
  "25006",
  // Transactions that were idle or open for too long, after which the connection is closed.
  ...["25P03", "25P04"],
  // It is unknown whether the statement was completed.
  "40003",
]);

/** Node's codes of sockets that cannot be opened or that broke. `ENOENT`: the server's Unix socket does not exist. */
const SOCKET_ERRORS: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOENT", "EACCES"],
  ...["ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL"],
  ...["EMFILE", "ENFILE", "ENOBUFS"],
]);

/**
 * Prisma's own codes, and its kinds of errors of raw statements, for a database that is unreachable or does not answer
 * in time. It does not always pass on the code that it got.
 */
const PRISMA_ERRORS: ReadonlySet<string> = new Set([
  ...["P1000", "P1001", "P1002", "P1008", "P1011", "P1017", "P2024", "P2028"],
  ...["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout", "TlsConnectionError"],
]);

/** For the log and for `/readyz`. */
const MESSAGES: Readonly<Record<string, string>> = {
  "25006": "The database is read-only.",
  "53100": "The database's disk is full.",
  "53300": "The database has no free connection.",
};
export const UNREACHABLE = "The database cannot be reached.";

/**
 * What Errand throws for an error of the database. A server that is away, full, read-only or busy is an expected
 * temporary failure. Any other error is a bug and is returned as it is. Only codes decide, because PostgreSQL's texts
 * depend on its version and its language.
 */
export function translateFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) {
    return error;
  }
  const options = { cause: error, retryAfterMs: 1_000 };
  if (isWriteConflict(error)) {
    return new AppError("resource_unavailable", "Others are changing the same.", options);
  }
  const code = codeOf(error) ?? "";
  if (TOO_SLOW.has(code)) {
    return new AppError("resource_unavailable", "The database took too long.", options);
  }
  return isUnavailable(code) ? new StorageUnavailable(MESSAGES[code] ?? UNREACHABLE, options) : error;
}

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** Whether PostgreSQL gave up the transaction because of others. Nothing of it was stored. */
export function isWriteConflict(error: unknown): boolean {
  const code = error instanceof Error ? codeOf(error) : undefined;
  return code === "P2034" || CONFLICTS.has(code ?? "");
}

/**
 * Makes a method of the driver reject only with errors that have a code. The driver's own errors (time-outs, and
 * connections that ended) have none.
 */
export function withErrorCodes<Method extends (...args: never[]) => unknown>(method: Method): Method {
  const coded = function (this: unknown, ...args: never[]): unknown {
    const result = method.apply(this, args);
    return result instanceof Promise ? result.catch(rethrowWithCode) : result;
  };
  return coded as Method;
}

/** The driver's own errors have no code. They get one. */
export function rethrowWithCode(error: unknown): never {
  const isDriverError =
    error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !("code" in error);
  throw isDriverError ? Object.assign(error, { code: DRIVER_ERROR }) : error;
}

/** The SQLSTATE, if the error has one. Otherwise the code of Prisma, Node or the driver. */
function codeOf(error: Error): string | undefined {
  if (error instanceof pg.DatabaseError) {
    return error.code;
  }
  const { kind, originalCode } = adapterErrorOf(error);
  if (originalCode !== undefined) {
    return originalCode;
  }
  if (kind !== undefined && PRISMA_ERRORS.has(kind)) {
    return kind;
  }
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

interface AdapterError {
  readonly kind?: string;
  readonly originalCode?: string;
}

/** Prisma reports an error of its adapter inside of its own error, except at the end of a transaction. */
function adapterErrorOf(error: Error): AdapterError {
  const { meta } = error as {
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: unknown } };
  };
  return ((meta?.driverAdapterError ?? error).cause ?? {}) as AdapterError;
}

function isUnavailable(code: string): boolean {
  if (code === DRIVER_ERROR || SOCKET_ERRORS.has(code) || PRISMA_ERRORS.has(code)) {
    return true;
  }
  return SQL_STATE.test(code) && (UNAVAILABLE.has(code) || UNAVAILABLE.has(code.slice(0, 2)));
}
