import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../../src/storage/database.ts";
import { pruneHistory } from "../../../src/storage/prune-history.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const DAY_MS = 86_400_000;
const EVENTS = `
  WITH added AS (
    INSERT INTO inbox_events (id, adapter, ordering_key, delivery_id, name, body, disposition, received_at, completed_at)
    SELECT gen_random_uuid(), 'slack', 'slack:a', $1 || number, 'message', '', $2, at, CASE WHEN $2::text IS NULL THEN NULL ELSE at END
    FROM generate_series(1, $3::int) AS number, (SELECT now() - $4::int * interval '1 day' AS at) AS time
    RETURNING id, delivery_id)
  INSERT INTO inbox_dedupe_keys (dedupe_key, inbox_id) SELECT delivery_id, id FROM added`;
const NOTICES = `
  INSERT INTO outbox_deliveries (uid, thread_id, message_key, notice, state, created_at)
  SELECT gen_random_uuid(), threads.id, 'm', '{}', $1, now() - $2::int * interval '1 day' FROM threads`;

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 2, log: SILENT_LOG });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const rows = (text: string, ...values: readonly unknown[]) =>
  database.rows<{ key: string }>({ text, values: [...values] });
const keysOf = async (text: string) => (await rows(text)).map(({ key }) => key);

test("old processed events go with their dedupe keys, in batches; open and newer ones stay", async () => {
  await rows(EVENTS, "open-", null, 1, 500);
  await rows(EVENTS, "old-", "new_run", 2_500, 401);
  await rows(EVENTS, "newer-", "ignored", 1, 399);

  const counts: number[] = [];
  for (let count = -1; count !== 0; counts.push(count)) {
    count = await pruneHistory(database, 400 * DAY_MS);
  }

  expect(Math.max(...counts)).toBeLessThanOrEqual(1_000);
  expect(counts.reduce((sum, count) => sum + count)).toBe(2_500);
  const left = ["newer-1", "open-1"];
  expect(await keysOf("SELECT delivery_id AS key FROM inbox_events ORDER BY 1")).toEqual(left);
  expect(await keysOf("SELECT dedupe_key AS key FROM inbox_dedupe_keys ORDER BY 1")).toEqual(left);
});

test("old notices go once they are no longer to be sent", async () => {
  await rows(
    "INSERT INTO threads (id, adapter, installation, key) VALUES (gen_random_uuid(), 'slack', 'T1', 'k')",
  );
  for (const state of ["sent", "replaced", "dead", "waiting"]) {
    await rows(NOTICES, state, 401);
  }
  await rows(NOTICES, "sent", 399);

  expect(await pruneHistory(database, 400 * DAY_MS)).toBe(3);

  expect(await keysOf("SELECT state AS key FROM outbox_deliveries ORDER BY 1")).toEqual(["sent", "waiting"]);
});

test("what deleted runs counted for quotas goes when their month has ended", async () => {
  await rows(`
    INSERT INTO deleted_run_uses (id, team_id, created_at)
    SELECT gen_random_uuid(), gen_random_uuid(), date_trunc('month', now(), 'UTC') + number * interval '1 minute'
    FROM generate_series(-2, 1) AS number`);

  expect(await pruneHistory(database, 400 * DAY_MS)).toBe(2);
  const isCurrent =
    "SELECT (created_at >= date_trunc('month', now(), 'UTC'))::text AS key FROM deleted_run_uses";
  expect(await keysOf(isCurrent)).toEqual(["true", "true"]);
});
