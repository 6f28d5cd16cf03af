import { afterEach, beforeEach, describe, expect, it as test } from "vitest";
import { PostgresPubSub } from "../../src/pubsub/postgres-pubsub.ts";
import { withConnection } from "../../src/storage/connection.ts";
import { type RecordedLine, recordingLog } from "../support/logs.ts";
import { InMemoryPubSub } from "../support/memory/in-memory-pubsub.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";
import { describeNews, listen, type NewsHarness } from "./pubsub-contract.ts";

describeNews("memory", async () => {
  const pubsub = new InMemoryPubSub();
  return { here: pubsub, there: pubsub, close: async () => undefined };
});

describeNews("PostgreSQL", openPostgres);

describe("the PostgreSQL news, when their connections break", () => {
  let harness: Awaited<ReturnType<typeof openPostgres>>;
  beforeEach(async () => {
    harness = await openPostgres();
  });
  afterEach(() => harness.close());

  test("connect again and tell their listeners that they may have missed something", async () => {
    const heard = listen(harness.there, "run:1");

    await harness.cut();

    await heard.something();
    expect(harness.losses[0]).toMatchObject({ level: "warn", message: "pubsub.connection.lost" });
  });

  test("bring what is told afterwards", async () => {
    const heard = listen(harness.there, "run:1");
    await harness.cut();
    await heard.something();
    await waitFor(() => harness.countConnections().then((count) => count === 2), {
      what: "both connections",
    });
    const before = heard.count;

    harness.here.publish(["run:1"]);

    await waitFor(() => heard.count > before, { what: "news on the new connection" });
  });

  test("tell their own process meanwhile", async () => {
    const heard = listen(harness.here, "run:1");
    await harness.cut();

    harness.here.publish(["run:1"]);

    await heard.something();
  });

  test("break again and again, and heal each time", async () => {
    for (let index = 0; index < 3; index += 1) {
      const heard = listen(harness.there, `run:${index}`);
      await harness.cut();
      await heard.something();
    }
  });
});

describe("the PostgreSQL news, when somebody else notifies", () => {
  test.each(["NOTIFY errand_news", "NOTIFY errand_news, 'no list'", "NOTIFY errand_news, '{}'"])(
    "take no harm from %s",
    async (sql) => {
      await using undo = new AsyncDisposableStack();
      const harness = await openPostgres();
      undo.defer(() => harness.close());
      const heard = listen(harness.there, "run:1");

      await harness.query(sql);
      harness.here.publish(["run:1"]);

      await heard.something();
      expect(harness.losses).toEqual([]);
    },
  );
});

const CUT = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand news'`;
const COUNT = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand news' AND query LIKE 'LISTEN%'`;

interface PostgresHarness extends NewsHarness {
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
    withConnection(database.url, { applicationName: "news tests", queryLimitMs: 5_000 }, (client) =>
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
