import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { StartupError } from "../core/basics/errors.ts";

export type Migration = { readonly name: string; readonly sql: string; readonly checksum: string };

type HistoryRow = {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
  readonly logs: string | null;
};

/** Exactly Prisma's own table. */
const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/** Rows that were marked as rolled back are only history. */
const READ_ROWS = `
  SELECT migration_name, checksum, finished_at, logs
    FROM _prisma_migrations
   WHERE rolled_back_at IS NULL
   ORDER BY started_at`;

/** The checksums of the applied migrations by name. Throws `StartupError` when one was never finished. */
export async function readHistory(client: Client): Promise<ReadonlyMap<string, string>> {
  await client.query(CREATE_TABLE);
  const { rows } = await client.query<HistoryRow>(READ_ROWS);
  const checksums = new Map<string, string>();
  for (const row of rows) {
    refuseUnfinished(row);
    checksums.set(row.migration_name, row.checksum);
  }
  return checksums;
}

/** Returns the id of the record, which counts as failed until `recordApplied`. */
export async function recordStarted(client: Client, migration: Migration): Promise<string> {
  const id = randomUUID();
  await client.query(
    "INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at) VALUES ($1, $2, $3, clock_timestamp())",
    [id, migration.checksum, migration.name],
  );
  return id;
}

export async function recordApplied(client: Client, id: string): Promise<void> {
  await client.query(
    "UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1",
    [id],
  );
}

export async function recordFailed(client: Client, id: string, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  await client.query("UPDATE _prisma_migrations SET logs = $2 WHERE id = $1", [id, reason]);
}

function refuseUnfinished({ migration_name: name, finished_at, logs }: HistoryRow): void {
  if (finished_at === null) {
    throw new StartupError(
      `Migration ${name} failed earlier (${logs ?? "it was interrupted"}): repair the database, then run UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL, and start again`,
    );
  }
}
