import { afterAll, beforeAll, expect, test } from "vitest";
import type { Job } from "../../../src/core/ports/queue.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { recordJobs } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { anInboxEvent, aReply, aThread } from "../../support/run-builders.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 };
const WAITING = `
  SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const DUE = "SELECT extract(epoch FROM due_at)::float8 * 1000 AS due FROM outbox_deliveries";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 2, log: SILENT_LOG });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

test("the job of a delivery that waits is not due before it, although its transaction waited for a lock", async () => {
  const jobs: Job[] = [];
  const jobInsert = recordJobs((sent) => jobs.push(...sent));
  const deps = { database, clock: new ManualClock(new Date()), pubsub: new InMemoryPubSub(), jobInsert };
  const { inbox, outbox } = createPrismaStorage(deps);
  const [event, thread] = [anInboxEvent(), aThread()];
  await inbox.put(event);
  await inbox.complete({ inboxId: event.id, disposition: "replied" }, { thread, notices: [aReply("hi")] });
  const limit = { name: "posts", counts: ["post"], per: "installation", everyMs: 10_000, burst: 1 } as const;
  const closed = { ...limit, key: "posts", writes: 1 };
  const delivery = await outbox.take(thread.id);

  const seenAt = await withConnection(testDatabase.url, SESSION, async (client) => {
    await client.query("BEGIN");
    await client.query("INSERT INTO paces (key) VALUES ('posts')");
    const failing = outbox.failed(delivery?.id ?? "", "busy", 1_000, [closed]);
    const waiting = async () => (await client.query<{ now: number }>(WAITING)).rows[0]?.now;
    const now = await waitFor(waiting, { what: "the transaction to wait" });
    await client.query("SELECT pg_sleep(0.3)");
    await client.query("COMMIT");
    await failing;
    return now;
  });

  const [row] = await database.rows<{ due: number }>({ text: DUE, values: [] });
  const { afterMs = 0 } = jobs.at(-1) ?? {};
  expect(seenAt + afterMs).toBeGreaterThanOrEqual(row?.due ?? Number.POSITIVE_INFINITY);
});
