import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryNews } from "../../src/news/memory-news.ts";
import { PostgresNews } from "../../src/news/postgres-news.ts";
import { withSession } from "../../src/storage/session.ts";
import { type RecordedLine, recordingLog } from "../support/logs.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";
import { describeNews, listen, type NewsBench } from "./news-contract.ts";

describeNews("memory", async () => {
  const news = new MemoryNews();
  return { here: news, there: news, close: async () => undefined };
});

describeNews("PostgreSQL", openPostgres);

describe("the PostgreSQL news, when their connections break", () => {
  let bench: Awaited<ReturnType<typeof openPostgres>>;
  beforeEach(async () => {
    bench = await openPostgres();
  });
  afterEach(() => bench.close());

  it("connect again and tell their listeners that they may have missed something", async () => {
    const heard = listen(bench.there, "run:1");

    await bench.cut();

    await heard.something();
    expect(bench.losses[0]).toMatchObject({ level: "warn", message: "news.connection.lost" });
  });

  it("bring what is told afterwards", async () => {
    const heard = listen(bench.there, "run:1");
    await bench.cut();
    await heard.something();
    await waitFor(() => bench.countConnections().then((count) => count === 2), { what: "both connections" });
    const before = heard.count;

    bench.here.tell(["run:1"]);

    await waitFor(() => heard.count > before, { what: "news on the new connection" });
  });

  it("tell their own process meanwhile", async () => {
    const heard = listen(bench.here, "run:1");
    await bench.cut();

    bench.here.tell(["run:1"]);

    await heard.something();
  });

  it("break again and again, and heal each time", async () => {
    for (let index = 0; index < 3; index += 1) {
      const heard = listen(bench.there, `run:${index}`);
      await bench.cut();
      await heard.something();
    }
  });
});

describe("the PostgreSQL news, when somebody else notifies", () => {
  it.each(["NOTIFY errand_news", "NOTIFY errand_news, 'no list'", "NOTIFY errand_news, '{}'"])(
    "take no harm from %s",
    async (sql) => {
      await using undo = new AsyncDisposableStack();
      const bench = await openPostgres();
      undo.defer(() => bench.close());
      const heard = listen(bench.there, "run:1");

      await bench.query(sql);
      bench.here.tell(["run:1"]);

      await heard.something();
      expect(bench.losses).toEqual([]);
    },
  );
});

const CUT = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand news'`;
const COUNT = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'errand news' AND query LIKE 'LISTEN%'`;

interface PostgresBench extends NewsBench {
  /** Breaks the connections of all. */
  cut(): Promise<void>;
  countConnections(): Promise<number>;
  query(sql: string): Promise<unknown>;
  readonly losses: readonly RecordedLine[];
}

async function openPostgres(): Promise<PostgresBench> {
  const database = await createTestDatabase();
  const losses: RecordedLine[] = [];
  const open = () => new PostgresNews({ url: database.url, log: recordingLog(losses) });
  const [here, there] = [open(), open()];
  await Promise.all([here.start(), there.start()]);
  const query = (sql: string) =>
    withSession(database.url, { applicationName: "news tests", queryLimitMs: 5_000 }, (client) =>
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
