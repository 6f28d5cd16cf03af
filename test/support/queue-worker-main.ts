import { PgBossQueue } from "../../src/storage/queue/pg-boss-queue.ts";
import { SILENT_LOG } from "./logs.ts";
import { InMemoryPubSub } from "./memory/in-memory-pubsub.ts";

/** A worker process that takes a job and never ends it, so that a test can kill it while it is busy. */
const [url = ""] = process.argv.slice(2);
const queue = new PgBossQueue({ url, maxConnections: 2, pubsub: new InMemoryPubSub(), log: SILENT_LOG });
await queue.start();
await queue.work("schedule", 1, (key) => {
  process.send?.({ key });
  return new Promise(() => undefined);
});
