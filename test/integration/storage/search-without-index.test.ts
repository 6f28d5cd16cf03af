import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { RunFilters } from "../../../src/core/ports/stores/run-query.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { applyMigrations } from "../../../src/storage/migrations.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aChange, anOrigin, aRun } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createEmptyDatabase } from "../../support/test-database.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;

test("words are found on a server without the extension that indexes them", async () => {
  const testDatabase = await createEmptyDatabase();
  const role = `role_${randomUUID().replaceAll("-", "")}`;
  const run = (url: string, text: string) => withConnection(url, SESSION, (client) => client.query(text));
  await run(testDatabase.url, `CREATE ROLE ${role} LOGIN; GRANT ALL ON SCHEMA public TO ${role}`);
  const url = new URL(testDatabase.url);
  url.username = role;

  await applyMigrations(url.href, SILENT_LOG);

  const indexes = await run(
    testDatabase.url,
    "SELECT FROM pg_indexes WHERE indexname = 'run_search_texts_text_idx'",
  );
  const database = new Database({ url: url.href, maxConnections: 2, log: SILENT_LOG });
  const storage = createPrismaStorage({
    database,
    pubsub: SILENT_PUBSUB,
    clock: systemClock,
    jobInsert: NO_JOBS,
  });
  const person = await storage.people.ensure(anOrigin().teamId, "memory:ada", "Ada");
  const made = aRun(anOrigin({ creatorId: person.id, prompt: "Look for the zeppelin" }));
  await storage.runs.create(made, aChange(made));
  const viewer = { id: person.id, teamId: made.teamId, administrator: true };
  const list = (filters: RunFilters) =>
    storage.runs.list({ viewer, filters, sort: "updated_at", order: "desc", limit: 5 });
  const page = await list({ text: "ZEPP" });
  const similar = await list({ similarText: "zepelin" });
  await database.close();
  await testDatabase.drop();
  await run(inject("postgresUrl"), `DROP ROLE ${role}`);
  expect(indexes.rowCount).toBe(0);
  expect(page.runs.map(({ id }) => id)).toEqual([made.id]);
  expect(similar.runs).toEqual([]);
});
