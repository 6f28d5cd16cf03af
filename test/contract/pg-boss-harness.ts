import { Database } from "../../src/storage/database.ts";
import { insertJobs } from "../../src/storage/insert-jobs.ts";
import { PgBossQueue } from "../../src/storage/queue/pg-boss-queue.ts";
import { JOB_INSERT } from "../../src/storage/queue/queue-settings.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { InMemoryPubSub } from "../support/memory/in-memory-pubsub.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";
import type { QueueHarness } from "./queue-contract.ts";

/** The real queue on a database of its own. */
export async function openPgBoss() {
  const testDatabase = await createTestDatabase();
  const { url } = testDatabase;
  const database = new Database({ url, maxConnections: 4, log: SILENT_LOG });
  const pubsub = new InMemoryPubSub();
  const queue = new PgBossQueue({ url, maxConnections: 4, pubsub, log: SILENT_LOG });
  await queue.start();
  const send: QueueHarness["send"] = async (...jobs) => {
    await database.transaction((tx) => insertJobs(tx, JOB_INSERT, jobs));
    pubsub.publish(jobs.map(({ kind }) => `jobs:${kind}`));
  };
  const until: QueueHarness["until"] = async (check, what) => {
    await waitFor(check, { what });
  };
  const close = async () => {
    await queue.stop(1_000);
    await database.close();
    await testDatabase.drop();
  };
  return { queue, database, url, send, until, close };
}
