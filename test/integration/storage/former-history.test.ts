import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { applyMigrations, listMigrations } from "../../../src/storage/migrations.ts";
import { readAggregate } from "../../../src/storage/run-aggregate.ts";
import { eventOf } from "../../../src/storage/run-rows.ts";
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

test("a database with all former migrations is adopted: only later ones are applied, and its schema is that of a new one", async () => {
  const rows = await run("SELECT * FROM run_events ORDER BY run_id, seq");

  const [, ...later] = await listMigrations();
  expect(await applyMigrations(database.url, SILENT_LOG)).toEqual(later);
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

/** Rows of older shapes. Their columns were added, or their values changed, before the last former migration. */
const OLD_ROWS = `
  UPDATE public.runs SET state = 'BLOCKED', state_since = NULL, updated_at = '2026-11-26T17:50:11.558Z',
    status_message = '{"message": "It ended.", "errorCode": "agent_process_failed"}',
    permission = '{"permissionId": "p", "title": "May I?", "options": []}',
    approval = '{"policyId": "policy", "reason": "Costly", "approved": true}',
    waiting_follow_up = '{"followUpId": "f", "reason": "Costly", "since": "2026-11-26T17:50:11.558Z"}';
  UPDATE public.run_events SET body = body ||
    '{"status": {"message": "It took too long.", "errorCode": "infrastructure_timeout"}}' WHERE kind = 'run.state';
  INSERT INTO public.follow_ups (id, run_id, seq, message, delivery, author_id, created_at, approval)
  SELECT gen_random_uuid(), id, 1, 'More', 'queue', creator_id, created_at, '{"policyId": "policy", "reason": "Costly"}'
  FROM public.runs;
  INSERT INTO public.threads (id, adapter, installation, key) VALUES (gen_random_uuid(), 'slack', 'T1', 'C1:1');
  INSERT INTO public.outbox_deliveries (uid, thread_id, message_key, notice)
  SELECT gen_random_uuid(), threads.id, 'card:' || runs.id, '{"kind": "card"}' FROM public.runs, public.threads;
  INSERT INTO public.workers (id, capacity, sandbox, isolated, disk_use)
  VALUES ('gone', 1, 'local', false, '{"freeBytes": 1, "takesRuns": true}'), ('silent', 1, 'local', false, NULL)`;

test("rows of older shapes are converted, and the conversion is not an approval in the audit log", async () => {
  await run(OLD_ROWS);
  const audit = await run("SELECT * FROM public.audit_entries");

  await applyMigrations(database.url, SILENT_LOG);

  const reader = new Database({ url: database.url, maxConnections: 1, log: SILENT_LOG });
  const [{ id } = { id: "" }] = await reader.rows<{ id: string }>({
    text: "SELECT id FROM runs",
    values: [],
  });
  const aggregate = await readAggregate(reader, id as RunId);
  const events = (await reader.query((client) => client.runEvent.findMany())).map(eventOf);
  await reader.close();
  const since = new Date("2026-11-26T17:50:11.558Z");
  const noInputs = { id: "00000000-0000-0000-0000-000000000000", inputsHash: "", inputs: [], authorIds: [] };
  const costly = { policyId: "policy", reason: "Costly", ...noInputs };
  expect(aggregate.run).toMatchObject({
    stateSince: since,
    statusMessage: { message: "It ended.", errorCode: "internal_error", reason: "agent_process_failed" },
    permission: { permissionId: "p", title: "May I?", options: [], askedAt: since },
    approval: { ...costly, approved: true },
    waitingFollowUp: { followUpId: "f", reason: "Costly", authorIds: [], since },
  });
  expect(aggregate.waiting).toMatchObject([{ message: "More", approval: costly }]);
  const moved = events.filter(({ body }) => body.kind === "run.state");
  expect(moved.length).toBeGreaterThan(1);
  expect(moved[0]?.body).toMatchObject({
    status: { errorCode: "resource_unavailable", reason: "infrastructure_timeout" },
  });
  expect(await run("SELECT run_id FROM outbox_deliveries")).toEqual([{ run_id: id }]);
  expect(await run("SELECT id FROM workers")).toEqual([{ id: "silent" }]);
  expect(await run("SELECT * FROM audit_entries")).toEqual(audit);
});

test("an older database is refused with the commit that brings it up to date, and stays as it is", async () => {
  await run(`DELETE FROM _prisma_migrations WHERE migration_name = '${LAST_FORMER}'`);
  const before = await run("SELECT * FROM _prisma_migrations ORDER BY migration_name");

  await expect(applyMigrations(database.url, SILENT_LOG)).rejects.toThrow(
    /^This database is of an older version: start Errand once at the commit [0-9a-f]{8}, [^\n]+$/,
  );

  expect(await run("SELECT * FROM _prisma_migrations ORDER BY migration_name")).toEqual(before);
});
