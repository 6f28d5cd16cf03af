import { cp, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { withSession } from "../../../src/storage/session.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createEmptyDatabase } from "../../support/test-database.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../../prisma/migrations");
const LIST_CODES = "20261122003443_list_codes";
const LONG_NAME = "n".repeat(400);
const LONG_MODEL = "m".repeat(400);
const CONFIG = JSON.stringify({ name: LONG_NAME, model_id: "other", harness: { model_id: LONG_MODEL } });

/** A run as the version before stored it: of long texts, so much as its indexes took. */
const RUN = `
  WITH person AS (
    INSERT INTO principals (id, team_id, type) SELECT gen_random_uuid(), id, 'user' FROM teams LIMIT 1 RETURNING id, team_id
  )
  INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, ancestor_ids,
    config_name, model_id, conversation_id, session_id, provenance, created_at, updated_at, state)
  SELECT gen_random_uuid(), team_id, 'Run', 'Do', 'API', id, true, $1, 'demo', '{}', '{}', left($2, 300), left($3, 300),
    gen_random_uuid(), gen_random_uuid(), '{}', now(), now(), 'QUEUED' FROM person`;
const FOUND = "SELECT FROM runs WHERE config_name = $1 AND model_id = $2 AND name_code = list_code($1)";

test("runs with long names, stored by the version before, are found by the whole name", async () => {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const earlier = await makeTemporaryFolder();
  for (const name of (await readdir(MIGRATIONS)).filter((each) => each < LIST_CODES))
    await cp(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  await applyMigrations(database.url, SILENT_LOG, earlier);
  const session = { applicationName: "test", queryLimitMs: 10_000 } as const;
  await withSession(database.url, session, (client) => client.query(RUN, [CONFIG, LONG_NAME, LONG_MODEL]));

  await applyMigrations(database.url, SILENT_LOG, MIGRATIONS);

  const found = await withSession(database.url, session, (client) =>
    client.query(FOUND, [LONG_NAME, LONG_MODEL]),
  );
  expect(found.rowCount).toBe(1);
});
