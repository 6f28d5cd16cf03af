import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { Database } from "../../../src/storage/database.ts";
import { databaseChecks } from "../../../src/storage/database-checks.ts";
import { diskCheck } from "../../../src/workspace/disk.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

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

function run(name: string, aheadMs = 0) {
  return runAt(name, () => new Date(Date.now() + aheadMs));
}

async function runAt(name: string, now: () => Date, isEmbedded = false) {
  const check = databaseChecks(database, { ...systemClock, now }, { isEmbedded }).find(
    (each) => each.name === name,
  );
  if (check === undefined) {
    throw new Error(`There is no check ${name}.`);
  }
  return check.run();
}

/** A clock that shows these times one after another. */
function clockOf(times: readonly number[]): () => Date {
  const left = [...times];
  return () => new Date(left.shift() ?? 0);
}

describe("the checks of a database", () => {
  test("the check reports the version and the response time of the database", async () => {
    expect((await run("database")).message).toMatch(/^PostgreSQL \d+(\.\d+)? (answered in|took) \d+ ms/);
  });

  test("one slow answer of the database is no warning", async () => {
    expect(await runAt("database", clockOf([0, 400, 500, 501, 600, 602]))).toEqual({
      status: "ok",
      message: expect.stringContaining("answered in 2 ms"),
    });
  });

  test.each([
    [true, "ERRAND_CONCURRENCY"],
    [false, "near this process"],
  ])("the remedy of a slow database fits it (embedded: %s)", async (isEmbedded, remedy) => {
    expect(await runAt("database", clockOf([0, 100, 200, 300, 400, 401]), isEmbedded)).toEqual({
      status: "warn",
      message: expect.stringContaining("took 100 ms"),
      remedy: expect.stringContaining(remedy),
    });
  });

  test("the check reports that all migrations are applied", async () => {
    expect(await run("migrations")).toMatchObject({ status: "ok" });
  });

  test("the check reports a missing migration and an unknown one", async () => {
    const rename = (from: string, to: string) =>
      database.query(
        (client) => client.$executeRaw`
          UPDATE _prisma_migrations SET migration_name = ${to} WHERE migration_name LIKE ${from}`,
      );
    await rename("%_init", "renamed");

    expect(await run("migrations")).toMatchObject({
      status: "fail",
      message: expect.stringContaining("_init"),
    });
    await database.query(
      (client) => client.$executeRaw`
        INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
        SELECT 'x', 'x', '20990101000000_future', now()`,
    );
    await rename("renamed", "20261127000000_init");
    expect(await run("migrations")).toMatchObject({
      status: "warn",
      message: expect.stringContaining("1 "),
    });
  });

  test.each([
    [0, "ok"],
    [10_000, "warn"],
    [-10_000, "warn"],
    [120_000, "fail"],
  ])("the check of a process whose clock is %d ms ahead: %s", async (aheadMs, status) => {
    expect(await run("clock", aheadMs)).toMatchObject({ status });
  });

  test("the check reports only webhook endpoints that were disabled because of failures", async () => {
    const row = { teamId: FIRST_TEAM, url: "https://x", events: [], enabled: false, secrets: [] };
    const times = { createdAt: new Date(), updatedAt: new Date(), createdBy: FIRST_TEAM };
    const add = (id: string, disabledReason: string | null) =>
      database.query((client) =>
        client.webhookEndpoint.create({ data: { id, ...row, ...times, disabledReason } }),
      );
    await add("0195b2a0-0000-7000-8000-000000000001", null);
    expect(await run("webhooks")).toMatchObject({ status: "ok" });

    await add("0195b2a0-0000-7000-8000-000000000002", "It failed for five days.");

    expect(await run("webhooks")).toMatchObject({ status: "warn", message: expect.stringMatching(/^1 /) });
  });
});

test("the check of the disk reports the free space", async () => {
  expect((await diskCheck(import.meta.dirname).run()).message).toMatch(/^\d+\.\d GiB are free/);
  await expect(diskCheck("/nowhere/at/all").run()).rejects.toThrow("ENOENT");
});
