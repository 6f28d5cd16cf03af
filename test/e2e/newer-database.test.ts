import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { spawnService, startService } from "../support/service.ts";
import { createTestDatabase } from "../support/test-database.ts";

const NEWER = `
  INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
  VALUES ('newer', 'x', '29991231000000_newer', now(), 1)`;

/** A database that a newer version has used, with the given changes. */
async function newerDatabase(changes: string) {
  const database = await createTestDatabase();
  const folder = await makeFolder();
  onTestFinished(async () => {
    await database.drop();
    await removeFolder(folder);
  });
  await withConnection(database.url, { applicationName: "test", queryLimitMs: 30_000 }, (client) =>
    client.query(`${NEWER}; ${changes}`),
  );
  return {
    folder,
    env: { DATABASE_URL: database.url, ERRAND_SECRET_KEY: "a secret key of 32 characters and more" },
  };
}

test.each([
  ["before", "ALTER TABLE run_events RENAME TO events_of_runs"],
  ["after", "ALTER TABLE principals RENAME TO people"],
])(
  "a database that is too new stops the start in one line, %s the storage is open",
  async (_when, changes) => {
    const { env, folder } = await newerDatabase(changes);

    const { child, output } = spawnService(folder, env);
    const [code] = await once(child, "exit");

    const lines = output().trim().split("\n");
    expect(code).toBe(1);
    expect(lines.filter((line) => !line.startsWith("{"))).toEqual([
      expect.stringMatching(
        /^This database is of a newer version of Errand, which applied 29991231000000_newer, .*Start the newer version/,
      ),
    ]);
  },
);

test("a newer database that this version can use is used", async () => {
  const { env, folder } = await newerDatabase("ALTER TABLE principals ADD COLUMN nickname text");

  const service = await startService(folder, env);
  await service.end("SIGTERM");

  expect(service.output()).toContain("storage.migration.database_is_newer");
});
