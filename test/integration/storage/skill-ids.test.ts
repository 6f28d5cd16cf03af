import { expect, test } from "vitest";
import { databaseBefore } from "../../support/former-database.ts";

const SKILL_IDS = "20261122101500_skill_ids";

/** Runs as the previous version stored them. */
const RUNS = `
  WITH person AS (
    INSERT INTO principals (id, team_id, type) SELECT gen_random_uuid(), id, 'user' FROM teams LIMIT 1 RETURNING id, team_id
  )
  INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, ancestor_ids,
    skill, conversation_id, session_id, provenance, created_at, updated_at, state)
  SELECT gen_random_uuid(), team_id, 'Run', 'Do', 'API', id, true, '{}', 'demo', '{}', '{}',
    given.skill, gen_random_uuid(), gen_random_uuid(), '{}', now(), now(), 'QUEUED'
    FROM person, unnest($1::text[]) AS given (skill)`;
const FOUND =
  "SELECT skill FROM runs WHERE skill_hash IS NOT DISTINCT FROM filter_hash(skill) ORDER BY skill";

test("runs of skills stored by the previous version have the current skill ids", async () => {
  await using database = await databaseBefore(SKILL_IDS);
  await database.query(RUNS, [["ACME/Tools:Do/SKILL.md", "acme/tools:a:B/SKILL.md", null]]);

  await database.migrate();

  const { rows } = await database.query(FOUND, []);
  expect(rows.map(({ skill }) => skill).toSorted()).toEqual([
    "acme/tools:Do/SKILL.md",
    "acme/tools:a:B/SKILL.md",
    null,
  ]);
});
