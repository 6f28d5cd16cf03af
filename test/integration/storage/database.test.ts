import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase } from "../../support/test-database.ts";

const SETTINGS = `
  SELECT current_setting('jit') AS jit, current_setting('max_parallel_workers_per_gather') AS workers`;

test("no statement uses JIT compilation or parallel workers, which take longer than the statement", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());

  expect(await database.rows({ text: SETTINGS, values: [] })).toEqual([{ jit: "off", workers: "0" }]);
});

/** The error as Prisma passes it on at the begin or end of a transaction: without its code. */
test.each([
  "terminating connection due to administrator command",
  "Server has closed the connection.",
  "the database system is in recovery mode",
  "the database system is not yet accepting connections",
])("a server that goes away or comes back is no bug: %s", async (message) => {
  const database = new Database({ url: "postgres://nowhere", maxConnections: 1, log: SILENT_LOG });
  onTestFinished(() => database.close());

  const failed = database.query(() => Promise.reject(new Error(message)));

  await expect(failed).rejects.toMatchObject({ code: "resource_unavailable" });
});
