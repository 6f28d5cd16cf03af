import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StartupError } from "../../../src/core/basics/errors.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { type RecordedLine, recordingLog, SILENT_LOG } from "../../support/logs.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { createEmptyDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const SESSION = { applicationName: "test", queryLimitMs: 10_000 } as const;
const FIRST = { "1_first": "CREATE TABLE first (id int);" } as const;

async function makeDatabase(): Promise<string> {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

/** A migrations folder with these files, by name of the migration. */
async function makeFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await makeTemporaryFolder();
  for (const [name, sql] of Object.entries(files)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "migration.sql"), sql);
  }
  return folder;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  return withConnection(url, SESSION, async (client) => (await client.query(sql)).rows);
}

async function listTables(url: string): Promise<unknown[]> {
  return query(
    url,
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
  );
}

test("files are applied in order and recorded as Prisma records them", async () => {
  const url = await makeDatabase();
  const folder = await makeFolder({ "2_second": "INSERT INTO first VALUES (1); -- ü", ...FIRST });

  const applied = await applyMigrations(url, SILENT_LOG, folder);

  expect(applied).toEqual(["1_first", "2_second"]);
  const records = await query(
    url,
    `SELECT migration_name AS name, checksum, applied_steps_count AS steps, logs, rolled_back_at,
            finished_at >= started_at AS finished
       FROM _prisma_migrations ORDER BY started_at`,
  );
  const checksum = createHash("sha256").update("INSERT INTO first VALUES (1); -- ü").digest("hex");
  expect(records).toHaveLength(2);
  expect(records[1]).toEqual({
    name: "2_second",
    checksum,
    steps: 1,
    logs: null,
    rolled_back_at: null,
    finished: true,
  });
});

test("a file and its record are one transaction, so a killed process leaves both or none", async () => {
  const url = await makeDatabase();

  await applyMigrations(url, SILENT_LOG, await makeFolder(FIRST));

  const written = await query(
    url,
    "SELECT relname FROM pg_class JOIN _prisma_migrations ON pg_class.xmin = _prisma_migrations.xmin WHERE relkind = 'r'",
  );
  expect(written).toEqual([{ relname: "first" }]);
});

test("a second start finds nothing to do", async () => {
  const url = await makeDatabase();
  const folder = await makeFolder(FIRST);
  await applyMigrations(url, SILENT_LOG, folder);

  const applied = await applyMigrations(url, SILENT_LOG, folder);

  expect(applied).toEqual([]);
});

test("five starts at once apply each file once, an index built concurrently among them", async () => {
  const url = await makeDatabase();
  const folder = await makeFolder({
    ...FIRST,
    "2_index": "-- The index of all ids.\nCREATE INDEX CONCURRENTLY first_id ON first (id);",
    "3_third": "CREATE TABLE third (id int);",
  });

  const starts = Array.from({ length: 5 }, () => applyMigrations(url, SILENT_LOG, folder));

  const applied = (await Promise.all(starts)).flat();
  expect(applied).toEqual(["1_first", "2_index", "3_third"]);
  expect(await query(url, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'first_id'::regclass")).toEqual(
    [{ indisvalid: true }],
  );
});

test("a file that fails is rolled back whole and stops every later start with a way out", async () => {
  const url = await makeDatabase();
  const broken = await makeFolder({ ...FIRST, "2_broken": "CREATE TABLE half (id int); SELECT 1 / 0;" });

  const first = applyMigrations(url, SILENT_LOG, broken);

  await expect(first).rejects.toThrow("Migration 2_broken failed: division by zero");
  expect(await listTables(url)).toEqual([{ name: "_prisma_migrations" }, { name: "first" }]);
  const second = await applyMigrations(url, SILENT_LOG, broken).catch((error: unknown) => error);
  expect(second).toBeInstanceOf(StartupError);
  expect(String(second)).toMatch(/Migration 2_broken failed earlier \(division by zero\): .*/);
  const remedy = /run (UPDATE .*), and start again$/.exec(String(second))?.[1] ?? "no remedy";
  await query(url, remedy);
  const repaired = await makeFolder({ ...FIRST, "2_broken": "CREATE TABLE whole (id int);" });
  expect(await applyMigrations(url, SILENT_LOG, repaired)).toEqual(["2_broken"]);
});

test("an index that cannot be built concurrently stops every later start", async () => {
  const url = await makeDatabase();
  const folder = await makeFolder({
    "1_first": "CREATE TABLE first AS SELECT 1 AS id FROM generate_series(1, 2);",
    "2_index": "CREATE UNIQUE INDEX CONCURRENTLY first_id ON first (id);",
  });

  const first = applyMigrations(url, SILENT_LOG, folder);

  await expect(first).rejects.toThrow(/Migration 2_index failed: could not create unique index/);
  await expect(applyMigrations(url, SILENT_LOG, folder)).rejects.toThrow("Migration 2_index failed earlier");
});

test("a start that loses its connection in the middle of a file leaves no trace", async () => {
  const url = await makeDatabase();
  const slow = await makeFolder({ "1_slow": "CREATE TABLE half (id int); SELECT pg_sleep(60);" });
  const interrupted = applyMigrations(url, SILENT_LOG, slow).catch((error: unknown) => error);
  const kill =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";

  await waitFor(async () => (await query(url, kill)).length > 0, { what: "the file to be at work" });

  expect(String(await interrupted)).toContain(
    "StartupError: Migration 1_slow failed: terminating connection",
  );
  expect(await applyMigrations(url, SILENT_LOG, await makeFolder(FIRST))).toEqual(["1_first"]);
  expect(await listTables(url)).toEqual([{ name: "_prisma_migrations" }, { name: "first" }]);
});

test("a file that was changed after it had been applied is refused", async () => {
  const url = await makeDatabase();
  await applyMigrations(url, SILENT_LOG, await makeFolder(FIRST));
  const edited = await makeFolder({ "1_first": "CREATE TABLE first (id int, name text);" });

  const start = applyMigrations(url, SILENT_LOG, edited);

  await expect(start).rejects.toThrow(/The file of migration 1_first was changed after/);
});

test("a database that is newer than the program is accepted with a warning", async () => {
  const url = await makeDatabase();
  await applyMigrations(url, SILENT_LOG, await makeFolder({ ...FIRST, "2_newer": "SELECT 1;" }));
  const lines: RecordedLine[] = [];

  await applyMigrations(url, recordingLog(lines), await makeFolder(FIRST));

  const message = "storage.migration.database_is_newer";
  expect(lines).toEqual([{ level: "warn", message, facts: { migrations: ["2_newer"] } }]);
});

test("a database that cannot be reached gives one line without the password", async () => {
  const server = await startPostgresServer();
  await server.stop();
  const url = server.url.replace("errand@", "errand:s3cret@");

  const error = await applyMigrations(url, SILENT_LOG).catch((reason: unknown) => reason);

  expect(String(error)).toMatch(
    /^StartupError: Cannot connect to PostgreSQL at 127\.0\.0\.1:\d+: .*ECONNREFUSED/,
  );
  expect(String(error)).not.toContain("s3cret");
});

test("our own migrations apply on another PostgreSQL than the embedded one", async () => {
  const server = await startPostgresServer();
  onTestFinished(() => server.stop());

  await applyMigrations(server.url, SILENT_LOG);

  expect(await applyMigrations(server.url, SILENT_LOG)).toEqual([]);
});
