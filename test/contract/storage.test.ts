import type { PubSub } from "../../src/core/ports/pubsub.ts";
import type { Job } from "../../src/core/ports/queue.ts";
import { createPrismaBlobStore } from "../../src/storage/blob-store.ts";
import { Database } from "../../src/storage/database.ts";
import { createPrismaStorage } from "../../src/storage/prisma-storage.ts";
import { recordJobs } from "../support/job-inserts.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { createInMemoryBlobStore } from "../support/memory/storage/blob-store.ts";
import { createInMemoryStorage } from "../support/memory/storage/in-memory-storage.ts";
import { createTestDatabase } from "../support/test-database.ts";
import type { StorageHarness } from "./storage/harness.ts";
import { describeStorage } from "./storage-contract.ts";

describeStorage("memory", async () => {
  const { deps, ...harness } = recordingDeps();
  const storage = createInMemoryStorage(deps);
  const blobs = createInMemoryBlobStore(deps.clock);
  return {
    ...harness,
    storage,
    blobs,
    passTime: (ms) => deps.clock.advance(ms),
    close: async () => undefined,
  };
});

describeStorage("Prisma", async () => {
  const { deps, ...harness } = recordingDeps();
  const testDatabase = await createTestDatabase();
  const database = new Database({ url: testDatabase.url, maxConnections: 10, log: SILENT_LOG });
  const close = async () => {
    await database.close();
    await testDatabase.drop();
  };
  const storage = createPrismaStorage({ ...deps, database, jobInsert: recordJobs(deps.sendJobs) });
  const blobs = createPrismaBlobStore(database, deps.clock);
  return { ...harness, storage, blobs, passTime: (ms) => passTime(database, ms), close };
});

/** Dependencies of a storage that record what it publishes and sends. */
function recordingDeps() {
  // Starts at the present time, because the database has its own clock and the two must be close.
  const clock = new ManualClock(new Date());
  const jobs: Job[] = [];
  const pubsub: string[] = [];
  let isFailing = false;
  const recordingPubSub: PubSub = {
    publish: (channels) => pubsub.push(...channels),
    subscribe: () => () => undefined,
  };
  const sendJobs: (sent: readonly Job[]) => void = (sent) => {
    if (isFailing && sent.length > 0) {
      isFailing = false;
      throw new Error("no jobs today");
    }
    jobs.push(...sent);
  };
  const failJobs = () => {
    isFailing = true;
  };
  const harness: Pick<StorageHarness, "clock" | "jobs" | "pubsub" | "failJobs"> = {
    clock,
    jobs,
    pubsub,
    failJobs,
  };
  return { ...harness, deps: { clock, pubsub: recordingPubSub, sendJobs } };
}

/** The database's clock cannot be moved. Instead, every row that it judges is made older. */
async function passTime(database: Database, ms: number): Promise<void> {
  await database.transaction(async (tx) => {
    const past = [
      "UPDATE runs SET updated_at = updated_at - $1::int * interval '1 millisecond'",
      "UPDATE run_queue SET queued_at = queued_at - $1::int * interval '1 millisecond', start_after = start_after - $1::int * interval '1 millisecond', others_after = others_after - $1::int * interval '1 millisecond', reserved_until = reserved_until - $1::int * interval '1 millisecond'",
      "UPDATE run_leases SET expires_at = expires_at - $1::int * interval '1 millisecond'",
      "UPDATE run_events SET at = at - $1::int * interval '1 millisecond'",
      "UPDATE workers SET last_seen_at = last_seen_at - $1::int * interval '1 millisecond'",
      "UPDATE inbox_events SET received_at = received_at - $1::int * interval '1 millisecond'",
      "UPDATE event_recoveries SET begun_at = begun_at - $1::int * interval '1 millisecond'",
      "UPDATE outbox_deliveries SET due_at = due_at - $1::int * interval '1 millisecond'",
      "UPDATE paces SET used_until = used_until - $1::int, tentative_until = tentative_until - $1::int, closed_until = closed_until - $1::int",
      "UPDATE webhook_deliveries SET due_at = due_at - $1::int * interval '1 millisecond', created_at = created_at - $1::int * interval '1 millisecond'",
    ];
    for (const statement of past) {
      await tx.$executeRawUnsafe(statement, ms);
    }
  });
}
