import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { expireCheckpoints } from "../../../src/storage/stored-workspaces.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

const DAY_MS = 86_400_000;
const END = `
  UPDATE runs SET checkpoint = $2, checkpoint_delta = $3, work_checkpoint = $4, ended_at = now() - $5::int * interval '1 day'
  WHERE id = $1::uuid`;
const STORED =
  "SELECT checkpoint, checkpoint_delta AS delta, work_checkpoint AS work FROM runs WHERE id = $1::uuid";

let harness: ApiHarness;
let database: Database;
beforeAll(async () => {
  harness = await startHarness();
  database = new Database({ url: harness.databaseUrl, maxConnections: 2, log: SILENT_LOG });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

const query = (text: string, ...values: readonly unknown[]) => database.rows({ text, values: [...values] });

async function aRun(endedDaysAgo: number | null, hasWork = true) {
  const blobs = createPrismaBlobStore(database, systemClock);
  const id = await createRun(harness);
  const [checkpoint, delta] = [await blobs.put(Buffer.from("whole")), await blobs.put(Buffer.from("delta"))];
  const work = hasWork ? await blobs.put(Buffer.from("work")) : null;
  await query(END, id, checkpoint, delta, work, endedDaysAgo);
  return { id, checkpoint, delta, work };
}

test("30 days after the end of a run only its work is kept, and as long as the run", async () => {
  const old = await aRun(31);
  const others = [await aRun(29), await aRun(31, false), await aRun(null)];
  const begun = await aRun(31);
  await query("UPDATE runs SET lease_token = gen_random_uuid() WHERE id = $1::uuid", begun.id);
  const newer = await aRun(31);
  await query("UPDATE runs SET checkpoint = $2 WHERE id = $1::uuid", newer.id, newer.work);
  await query("UPDATE runs SET work_checkpoint = $2 WHERE id = $1::uuid", newer.id, newer.checkpoint);

  expect(await expireCheckpoints(database, 30 * DAY_MS)).toBe(1);
  expect(await expireCheckpoints(database, 30 * DAY_MS)).toBe(0);

  expect(await query(STORED, old.id)).toEqual([{ checkpoint: old.work, delta: null, work: old.work }]);
  for (const { id, ...stored } of [...others, begun]) {
    expect(await query(STORED, id)).toEqual([stored]);
  }
  await query("UPDATE blobs SET created_at = now() - interval '31 days'");
  const blobs = createPrismaBlobStore(database, systemClock);
  expect(await blobs.prune()).toBe(2);
  expect(Buffer.from(await blobs.get(old.work ?? "")).toString()).toBe("work");
});
