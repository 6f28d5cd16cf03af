import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { StartupError } from "../core/basics/errors.ts";
import type { Log } from "../core/basics/log.ts";
import { withConnection } from "./connection.ts";
import { adoptFormerHistory, isFormer } from "./former-history.ts";
import {
  type Migration,
  readHistory,
  recordApplied,
  recordFailed,
  recordStarted,
} from "./migration-history.ts";

const MIGRATIONS_FOLDER = resolve(import.meta.dirname, "../../prisma/migrations");
/** Prisma's own lock number, so that its tools and this runner exclude each other. */
const LOCK_ID = 72707369;
const OLDEST_SERVER = 150_000;
const LOCK_POLL_MS = 50;
/** A migration may rewrite a large table. */
const QUERY_LIMIT_MS = 3_600_000;
const COMMENTS = /--.*$|\/\*[\s\S]*?\*\//gm;
/** Statements that PostgreSQL refuses inside a transaction. Such a statement must be alone in its file. */
const CONCURRENTLY = /\b(?:INDEX|REINDEX\s+\w+)\s+CONCURRENTLY\b/i;

/**
 * Migrates the database to the schema of this version, and returns the names of the applied migrations. Any number of
 * processes may start at once: one applies, the others wait and find nothing to do. Prisma's table and rules are
 * followed, so its tools agree with the result; only its engine is not needed.
 * A file runs in one transaction with its record. A process that is killed leaves no trace, and the next start tries
 * again. A file that fails is recorded and stops every later start, because a person must repair what it left.
 * Throws `StartupError` for what a person must repair. It needs its own session, so it does not work through a
 * transaction pooler.
 */
export async function applyMigrations(
  url: string,
  log: Log,
  folder: string = MIGRATIONS_FOLDER,
): Promise<readonly string[]> {
  const migrations = await readMigrations(folder);
  const options = { applicationName: "errand migrations", queryLimitMs: QUERY_LIMIT_MS };
  return withConnection(url, options, async (client) => {
    await requireVersion(client);
    await lockMigrations(client);
    const pending = await findPending(client, migrations, log);
    for (const migration of pending) {
      await apply(client, migration);
      log.info("storage.migration.applied", { migration: migration.name });
    }
    return pending.map((migration) => migration.name);
  });
}

/** The names of this version's migrations, in order. */
export async function listMigrations(): Promise<readonly string[]> {
  return (await readMigrations(MIGRATIONS_FOLDER)).map(({ name }) => name);
}

/** The applied migrations that this version does not have: a newer version has used the database. */
export async function findNewerMigrations(url: string): Promise<readonly string[]> {
  const known = new Set(await listMigrations());
  const options = { applicationName: "errand migrations", queryLimitMs: QUERY_LIMIT_MS };
  const applied = await withConnection(url, options, readHistory);
  return [...applied.keys()].filter((name) => !known.has(name) && !isFormer(name));
}

async function requireVersion(client: Client): Promise<void> {
  const { rows } = await client.query("SHOW server_version_num");
  if (Number(rows[0]?.server_version_num) >= OLDEST_SERVER) {
    return;
  }
  throw new StartupError("DATABASE_URL is a PostgreSQL older than 15: use 15 or newer.");
}

async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(folder, name)));
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const bytes = await readFile(join(folder, name, "migration.sql"));
  return { name, sql: bytes.toString(), checksum: createHash("sha256").update(bytes).digest("hex") };
}

/**
 * The lock ends with the session. Waiting for it in one blocking statement was tried, but CREATE INDEX CONCURRENTLY
 * waits for every earlier statement, also for those that wait for this lock, and PostgreSQL ends the deadlock by
 * failing one of them.
 */
async function lockMigrations(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS locked", [LOCK_ID]);
    if (rows[0]?.locked === true) {
      return;
    }
    await delay(LOCK_POLL_MS);
  }
}

async function findPending(
  client: Client,
  migrations: readonly Migration[],
  log: Log,
): Promise<readonly Migration[]> {
  const appliedChecksums = await adoptFormerHistory(client, await readHistory(client), migrations);
  for (const { name, checksum } of migrations) {
    if ((appliedChecksums.get(name) ?? checksum) !== checksum) {
      throw new StartupError(
        `The file of migration ${name} was changed after this database had applied it: restore the file, and put the change into a new migration`,
      );
    }
  }
  warnOfNewer(appliedChecksums, migrations, log);
  return migrations.filter(({ name }) => !appliedChecksums.has(name));
}

/** Happens after a downgrade. Migrations must leave a schema that the previous version can use. */
function warnOfNewer(applied: ReadonlyMap<string, string>, migrations: readonly Migration[], log: Log): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    log.warn("storage.migration.database_is_newer", { migrations: unknown });
  }
}

async function apply(client: Client, migration: Migration): Promise<void> {
  const isOutsideTransaction = CONCURRENTLY.test(migration.sql.replace(COMMENTS, " "));
  try {
    await (isOutsideTransaction ? applyBare(client, migration) : applyInTransaction(client, migration));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartupError(`Migration ${migration.name} failed: ${reason}`, { cause });
  }
}

async function applyInTransaction(client: Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migration.sql);
    await recordApplied(client, await recordStarted(client, migration));
    await client.query("COMMIT");
  } catch (error) {
    await recordRolledBack(client, migration, error).catch(ignoreLostConnection);
    throw error;
  }
}

async function recordRolledBack(client: Client, migration: Migration, error: unknown): Promise<void> {
  await client.query("ROLLBACK");
  await recordFailed(client, await recordStarted(client, migration), error);
}

/** If the connection is lost, so is the transaction: nothing was done, and the next start may try again. */
function ignoreLostConnection(): void {
  return;
}

/** The record comes first here, because a killed process may leave an invalid index that a person must drop. */
async function applyBare(client: Client, migration: Migration): Promise<void> {
  const id = await recordStarted(client, migration);
  try {
    await client.query(migration.sql);
  } catch (error) {
    await recordFailed(client, id, error);
    throw error;
  }
  await recordApplied(client, id);
}
