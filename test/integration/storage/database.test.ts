import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createTestDatabase } from "../../support/test-database.ts";

const SETTINGS = `
  SELECT current_setting('jit') AS jit, current_setting('max_parallel_workers_per_gather') AS workers`;

test("no statement is compiled or shared out among processes, which takes longer than the statement", async () => {
  const { drop, url } = await createTestDatabase();
  onTestFinished(drop);
  await using undo = new AsyncDisposableStack();
  const database = new Database({ url, maxConnections: 1, log: SILENT_LOG });
  undo.defer(() => database.close());

  expect(await database.rows({ text: SETTINGS, values: [] })).toEqual([{ jit: "off", workers: "0" }]);
});
