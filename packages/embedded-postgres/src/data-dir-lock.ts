import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PostgresStartError } from "./start-error.ts";

const SQLITE_BUSY = 5;
/** Two processes that take the lock at the same moment would both be refused, so one waits for the other to give up. */
const WAIT_MS = 250;
const PRIVATE_FILE = 0o600;

export interface DataDirLock {
  release(): void;
}

/**
 * Keeps a second process out of a data directory.
 * Node cannot lock a file, but SQLite can: an open exclusive transaction is a lock of the kernel on the file. It ends
 * with the process, however the process dies. So there are no stale locks to judge by process ids, and it also works
 * between containers that share a volume. The text in the file beside it only says who holds the lock.
 */
export function lockDataDir(directory: string): DataDirLock {
  const holderFile = join(directory, "postgres.holder");
  const database = openExclusively(join(directory, "postgres.lock"), () => describeHolder(holderFile));
  writeFileSync(holderFile, `process ${process.pid}, started ${startOfThisProcess()}\n`, {
    mode: PRIVATE_FILE,
  });
  return { release: () => database.close() };
}

function openExclusively(path: string, holder: () => string): DatabaseSync {
  // Anyone who can open the file could block us, so it is private from its creation.
  writeFileSync(path, "", { flag: "a", mode: PRIVATE_FILE });
  const database = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) {
      throw new PostgresStartError(
        `The data directory is in use by another Errand (${holder()}; ${path}): stop that one, or give this one its own ERRAND_DATA_DIR`,
      );
    }
    throw error;
  }
}

function describeHolder(holderFile: string): string {
  try {
    return readFileSync(holderFile, "utf8").trim();
  } catch {
    return "process unknown";
  }
}

function startOfThisProcess(): string {
  return new Date(performance.timeOrigin).toISOString();
}
