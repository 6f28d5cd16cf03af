import { afterEach, beforeEach, describe, expect, it as test } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { PostgresPubSub } from "../../src/storage/postgres-pubsub.ts";
import { type RecordedLine, recordingLog } from "../support/logs.ts";
import { InMemoryPubSub } from "../support/memory/in-memory-pubsub.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";
import { describePubSub, listen, type PubSubHarness } from "./pubsub-contract.ts";

describePubSub("memory", async () => {
  const pubsub = new InMemoryPubSub();
  return { here: pubsub, there: pubsub, close: async () => undefined };
});

describePubSub("PostgreSQL", openPostgres);

describe("the PostgreSQL pub/sub, when its connections break", () => {
  let harness: Awaited<ReturnType<typeof openPostgres>>;
  beforeEach(async () => {
    harness = await openPostgres();
  });
  afterEach(() => harness.close());

  test("it connects again and calls its listeners, because they may have missed something", async () => {
    const calls = listen(harness.there, "run:1");

    await harness.cut();

    await calls.something();
    expect(harness.losses[0]).toMatchObject({ level: "warn", message: "pubsub.connection.lost" });
  });

  test("it delivers what is published afterwards", async () => {
    const calls = listen(harness.there, "run:1");
    await harness.cut();
    await calls.something();
    await waitFor(() => harness.countConnections().then((count) => count === 2), {
      what: "both connections",
    });
    const before = calls.count;

    harness.here.publish(["run:1"]);

    await waitFor(() => calls.count > before, { what: "a notification on the new connection" });
  });

  test("it calls the listeners of its own process meanwhile", async () => {
    const calls = listen(harness.here, "run:1");
    await harness.cut();

    harness.here.publish(["run:1"]);

    await calls.something();
  });

  test("it survives connections that break again and again", async () => {
    for (let index = 0; index < 3; index += 1) {
      const calls = listen(harness.there, `run:${index}`);
      await harness.cut();
      await calls.something();
    }
  });
});

describe("the PostgreSQL pub/sub, when another program notifies", () => {
  test.each([
    "NOTIFY errand_notifications",
    "NOTIFY errand_notifications, 'no list'",
    "NOTIFY errand_notifications, '{}'",
  ])("%s does no harm", async (sql) => {
    await using undo = new AsyncDisposableStack();
    const harness = await openPostgres();
    undo.defer(() => harness.close());
    const calls = listen(harness.there, "run:1");

    await harness.query(sql);
    harness.here.publish(["run:1"]);

    await calls.something();
    expect(harness.losses).toEqual([]);
  });
});

const CUT = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand notifications'`;
const COUNT = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand notifications' AND query LIKE 'LISTEN%'`;

interface PostgresHarness extends PubSubHarness {
  /** Breaks the connections of all. */
  cut(): Promise<void>;
  countConnections(): Promise<number>;
  query(sql: string): Promise<unknown>;
  readonly losses: readonly RecordedLine[];
}

async function openPostgres(): Promise<PostgresHarness> {
  const database = await createTestDatabase();
  const losses: RecordedLine[] = [];
  const open = () => new PostgresPubSub({ url: database.url, log: recordingLog(losses) });
  const [here, there] = [open(), open()];
  await Promise.all([here.start(), there.start()]);
  const query = (sql: string) =>
    withConnection(database.url, { applicationName: "pub/sub tests", queryLimitMs: 5_000 }, (client) =>
      client.query(sql),
    );
  const cut = async () => {
    await query(CUT);
  };
  const countConnections = async (): Promise<number> => (await query(COUNT)).rows[0]?.count;
  const close = async () => {
    await Promise.all([here.stop(), there.stop()]);
    await database.drop();
  };
  return { here, there, losses, cut, countConnections, query, close };
}
