import { cp, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { QueryResult } from "pg";
import { withConnection } from "../../src/storage/connection.ts";
import { applyMigrations } from "../../src/storage/migrations.ts";
import { makeTemporaryFolder } from "./data-dir.ts";
import { SILENT_LOG } from "./logs.ts";
import { createEmptyDatabase } from "./test-database.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../prisma/migrations");
const SESSION = { applicationName: "errand tests", queryLimitMs: 10_000 } as const;

export interface FormerDatabase extends AsyncDisposable {
  query(sql: string, values: unknown[]): Promise<QueryResult>;
  /** Applies the missing migrations, as a start of the current version does. */
  migrate(): Promise<unknown>;
}

/** A database of the version that had all migrations before this one. */
export async function databaseBefore(migration: string): Promise<FormerDatabase> {
  const database = await createEmptyDatabase();
  const earlier = await makeTemporaryFolder();
  for (const name of (await readdir(MIGRATIONS)).filter((each) => each < migration)) {
    await cp(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  }
  await applyMigrations(database.url, SILENT_LOG, earlier);
  return {
    query: (sql, values) => withConnection(database.url, SESSION, (client) => client.query(sql, values)),
    migrate: () => applyMigrations(database.url, SILENT_LOG),
    [Symbol.asyncDispose]: () => database.drop(),
  };
}
