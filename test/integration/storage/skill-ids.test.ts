import { cp, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { withSession } from "../../../src/storage/session.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createEmptyDatabase } from "../../support/test-database.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../../prisma/migrations");
const SKILL_IDS = "20261122101500_skill_ids";

/** Runs as the version before stored them. */
const RUNS = `
  WITH person AS (
    INSERT INTO principals (id, team_id, type) SELECT gen_random_uuid(), id, 'user' FROM teams LIMIT 1 RETURNING id, team_id
  )
  INSERT INTO runs (id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, ancestor_ids,
    skill, conversation_id, session_id, provenance, created_at, updated_at, state)
  SELECT gen_random_uuid(), team_id, 'Run', 'Do', 'API', id, true, '{}', 'demo', '{}', '{}',
    given.skill, gen_random_uuid(), gen_random_uuid(), '{}', now(), now(), 'QUEUED'
    FROM person, unnest($1::text[]) AS given (skill)`;
const FOUND = "SELECT skill FROM runs WHERE skill_code IS NOT DISTINCT FROM list_code(skill) ORDER BY skill";

test("runs of skills, stored by the version before, have the ids that are asked for now", async () => {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const earlier = await makeTemporaryFolder();
  for (const name of (await readdir(MIGRATIONS)).filter((each) => each < SKILL_IDS))
    await cp(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  await applyMigrations(database.url, SILENT_LOG, earlier);
  const session = { applicationName: "test", queryLimitMs: 10_000 } as const;
  const stored = ["ACME/Tools:Do/SKILL.md", "acme/tools:a:B/SKILL.md", null];
  await withSession(database.url, session, (client) => client.query(RUNS, [stored]));

  await applyMigrations(database.url, SILENT_LOG, MIGRATIONS);

  const { rows } = await withSession(database.url, session, (client) => client.query(FOUND));
  expect(rows.map(({ skill }) => skill).toSorted()).toEqual([
    "acme/tools:Do/SKILL.md",
    "acme/tools:a:B/SKILL.md",
    null,
  ]);
});
