import { expect, test } from "vitest";
import { databaseBefore } from "../../support/former-database.ts";

const STANDARD_NAMES = "20261123012734_standard_names";
const ID = "019cb000-0000-7000-8000-000000000001";

/** One row in each table that the migration renames or whose columns it renames. */
const FORMER_ROWS = [
  `INSERT INTO inbound_meanings (meaning, inbox_id) VALUES ('slack:T1:message', '${ID}')`,
  `INSERT INTO inbox_events (id, adapter, lane, delivery_id, name, body, disposition, settled_at)
   VALUES ('${ID}', 'slack', 'slack:T1:C1', 'Ev1', 'message', '{}', 'ignored', '2026-11-20T10:00:00Z')`,
  `INSERT INTO threads (id, adapter, installation, key) VALUES ('${ID}', 'slack', 'T1', 'C1')`,
  `INSERT INTO outbox_deliveries (uid, thread_id, slot, notice) VALUES ('${ID}', '${ID}', 'card:1', '{"kind": "seen"}')`,
  `INSERT INTO receipts (thread_id, slot, receipt) VALUES ('${ID}', 'card:1', 'ts-1')`,
  `INSERT INTO principals (id, team_id, type) SELECT '${ID}', id, 'user' FROM teams LIMIT 1`,
  `INSERT INTO remembered_answers (principal_id, key, request_hash, status, body)
   VALUES ('${ID}', 'key-1', 'hash', 201, '{"run_id": "1"}')`,
  `UPDATE log_readers SET position = 7, run_id = '${ID}', seq = 3 WHERE name = 'webhooks'`,
  `INSERT INTO run_texts (run_id, text) VALUES ('${ID}', 'Look for the zeppelin')`,
  `INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, ancestor_ids,
     environment_id, config_name, model_id, skill, schedule_id, conversation_id, continues_id, session_id, agent_session,
     last_write, provenance, created_at, updated_at, state)
   SELECT '${ID}', team_id, 'Run', 'Do', 'API', id, true, '{}', 'demo', '{}', '{}', 'env', 'name', 'model', 'skill', '${ID}',
     '${ID}', '${ID}', '${ID}', 'session', '${ID}', '{}', now(), now(), 'QUEUED' FROM principals`,
  `INSERT INTO webhook_endpoints (id, team_id, url, events, enabled, secrets, created_by, created_at, updated_at)
   SELECT '${ID}', team_id, 'https://hooks.example', '{}', true, '[]', id, now(), now() FROM principals`,
  `INSERT INTO webhook_deliveries (id, endpoint_id, type, body, state, step, settled_at)
   VALUES ('${ID}', '${ID}', 'run.succeeded', '{}', 'delivered', 4, '2026-11-20T10:00:00Z')`,
  `INSERT INTO workers (id, slots, sandbox, isolated) VALUES ('worker-1', 5, 'none', false)`,
];

const COMPLETED_AT = new Date("2026-11-20T10:00:00Z");

/** What a query by the new names returns for those rows. */
const MIGRATED_ROWS: readonly (readonly [query: string, row: object])[] = [
  ["SELECT dedupe_key, inbox_id FROM inbox_dedupe_keys", { dedupe_key: "slack:T1:message", inbox_id: ID }],
  [
    "SELECT ordering_key, completed_at FROM inbox_events",
    { ordering_key: "slack:T1:C1", completed_at: COMPLETED_AT },
  ],
  ["SELECT uid, message_key FROM outbox_deliveries", { uid: ID, message_key: "card:1" }],
  ["SELECT message_key, receipt FROM receipts", { message_key: "card:1", receipt: "ts-1" }],
  [
    "SELECT key, request_hash, status, body FROM idempotent_responses",
    { key: "key-1", request_hash: "hash", status: 201, body: { run_id: "1" } },
  ],
  [
    "SELECT position, run_id, seq FROM event_log_cursors WHERE name = 'webhooks'",
    { position: "7", run_id: ID, seq: 3 },
  ],
  ["SELECT run_id, text FROM run_search_texts", { run_id: ID, text: "Look for the zeppelin" }],
  [
    "SELECT continues_run_id, agent_session_id, last_write_id FROM runs",
    { continues_run_id: ID, agent_session_id: "session", last_write_id: ID },
  ],
  [
    `SELECT creator_hash = filter_hash('${ID}') AS creator, environment_hash = filter_hash('env') AS environment,
       name_hash = filter_hash('name') AS name, model_hash = filter_hash('model') AS model,
       skill_hash = filter_hash('skill') AS skill, schedule_hash = filter_hash('${ID}') AS schedule
     FROM runs`,
    { creator: true, environment: true, name: true, model: true, skill: true, schedule: true },
  ],
  ["SELECT retry_step, completed_at FROM webhook_deliveries", { retry_step: 4, completed_at: COMPLETED_AT }],
  ["SELECT id, capacity FROM workers", { id: "worker-1", capacity: 5 }],
];

test("the rows of the version before are found by the standard names", async () => {
  await using database = await databaseBefore(STANDARD_NAMES);
  for (const statement of FORMER_ROWS) {
    await database.query(statement, []);
  }

  await database.migrate();

  for (const [query, row] of MIGRATED_ROWS) {
    const { rows } = await database.query(query, []);
    expect(rows, query).toEqual([row]);
  }
});
