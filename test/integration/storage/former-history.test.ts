import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { createApiClient } from "../../support/api-client.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { startService } from "../../support/service.ts";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
/**
 * A database of the last version before its 54 migrations became one, as `pg_dump --inserts` prints it: a finished run, a
 * secret and a schedule.
 */
const FORMER = join(import.meta.dirname, "../../fixtures/former-database.sql");
const SECRET_KEY = "the secret key of the former database";
const ADMIN_KEY = "the-key-of-the-administrator";
const LAST_FORMER = "20261126152800_renew_sign_ins";

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
  await run(await readFile(FORMER, "utf8"));
});
afterEach(() => database.drop());

function run(sql: string, url = database.url): Promise<readonly unknown[]> {
  return withConnection(url, SESSION, async (client) => (await client.query(sql)).rows);
}

/** Everything of the schema that PostgreSQL prints: columns, constraints, indexes, triggers, functions. */
const SCHEMA = `
  SELECT format('%s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, column_default, generation_expression) AS line
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')
  ORDER BY 1`;

test("a database with all former migrations is adopted: nothing is applied, and its schema is that of a new one", async () => {
  const rows = await run("SELECT * FROM run_events ORDER BY run_id, seq");

  expect(await applyMigrations(database.url, SILENT_LOG)).toEqual([]);
  expect(await applyMigrations(database.url, SILENT_LOG)).toEqual([]);

  const records = await run(
    "SELECT migration_name FROM _prisma_migrations WHERE migration_name LIKE '%_init'",
  );
  expect(records).toHaveLength(2);
  expect(await run("SELECT * FROM run_events ORDER BY run_id, seq")).toEqual(rows);
  const fresh = await createTestDatabase();
  const [adopted, created] = [await run(SCHEMA), await run(SCHEMA, fresh.url)];
  await fresh.drop();
  expect(adopted.length).toBeGreaterThan(500);
  expect(adopted).toEqual(created);
});

test("its runs, secrets and schedules work on", async () => {
  const service = await startService(await makeTemporaryFolder(), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: SECRET_KEY,
    ERRAND_ADMIN_KEY: ADMIN_KEY,
    ERRAND_SANDBOX: "local",
  });
  try {
    const api = createApiClient(service);
    const read = async (path: string) => JSON.stringify((await api.call("GET", path)).body);

    const [former] = await api.listRuns();
    await api.followUp(former?.run_id ?? "", "say hello again");
    const item = await api.waitForState(former?.run_id ?? "", "SUCCEEDED", 60_000);

    expect(item).toMatchObject({ title: "A former run", result: { turn: 2 } });
    expect(await read("/agent/secrets")).toContain('"TOKEN"');
    expect(await read("/agent/schedules")).toContain('"weekly"');
  } finally {
    await service.end("SIGTERM");
  }
});

test("an older database is refused with the commit that brings it up to date, and stays as it is", async () => {
  await run(`DELETE FROM _prisma_migrations WHERE migration_name = '${LAST_FORMER}'`);
  const before = await run("SELECT * FROM _prisma_migrations ORDER BY migration_name");

  await expect(applyMigrations(database.url, SILENT_LOG)).rejects.toThrow(
    /^This database is of an older version: start Errand once at the commit [0-9a-f]{8}, [^\n]+$/,
  );

  expect(await run("SELECT * FROM _prisma_migrations ORDER BY migration_name")).toEqual(before);
});
