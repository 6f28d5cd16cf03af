import { expect, test } from "vitest";
import { databaseBefore } from "../../support/former-database.ts";

const LIST_CODES = "20261122003443_list_codes";
const LONG_NAME = "n".repeat(400);
const LONG_MODEL = "m".repeat(400);
const CONFIG = JSON.stringify({ name: LONG_NAME, model_id: "other", harness: { model_id: LONG_MODEL } });

/** A run as the previous version stored it, with texts of the greatest length that its indexes allowed. */
const RUN = `
  WITH person AS (
    INSERT INTO principals (id, team_id, type) SELECT gen_random_uuid(), id, 'user' FROM teams LIMIT 1 RETURNING id, team_id
  )
  INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, ancestor_ids,
    config_name, model_id, conversation_id, session_id, provenance, created_at, updated_at, state)
  SELECT gen_random_uuid(), team_id, 'Run', 'Do', 'API', id, true, $1, 'demo', '{}', '{}', left($2, 300), left($3, 300),
    gen_random_uuid(), gen_random_uuid(), '{}', now(), now(), 'QUEUED' FROM person`;
const FOUND = "SELECT FROM runs WHERE config_name = $1 AND model_id = $2 AND name_hash = filter_hash($1)";

test("runs with long names stored by the previous version are found by the whole name", async () => {
  await using database = await databaseBefore(LIST_CODES);
  await database.query(RUN, [CONFIG, LONG_NAME, LONG_MODEL]);

  await database.migrate();

  const found = await database.query(FOUND, [LONG_NAME, LONG_MODEL]);
  expect(found.rowCount).toBe(1);
});
