import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PgBoss } from "pg-boss";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JOB_KINDS } from "../../src/core/ports/queue.ts";
import { insertJobs } from "../../src/storage/insert-jobs.ts";
import { PgBossQueue } from "../../src/storage/queue/pg-boss-queue.ts";
import { JOB_INSERT } from "../../src/storage/queue/queue-settings.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { InMemoryPubSub } from "../support/memory/in-memory-pubsub.ts";
import { waitFor } from "../support/wait-for.ts";
import { openPgBoss } from "./pg-boss-harness.ts";
import { Work } from "./queue-contract.ts";

/** The members of a stored job that are the same for all jobs. */
const STORED = {
  text: `
    SELECT to_jsonb(job) - '{id,data,singleton_key,start_after,created_on,keep_until}'::text[] AS settings,
      ARRAY(SELECT jsonb_object_keys(data)) AS members, data ->> 'key' = singleton_key AS is_keyed,
      (keep_until - created_on)::text AS kept, (start_after - created_on)::text AS delay
    FROM pgboss.job ORDER BY singleton_key`,
  values: [],
};

describe("the pg-boss queue, in addition to the contract,", () => {
  let harness: Awaited<ReturnType<typeof openPgBoss>>;
  beforeEach(async () => {
    harness = await openPgBoss();
  });
  afterEach(() => harness.close());

  test("a job whose transaction failed is never handed out", async () => {
    const work = new Work();
    const failing = harness.database.transaction(async (tx) => {
      await insertJobs(tx, JOB_INSERT, [{ kind: "run", key: "a" }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await harness.send({ kind: "run", key: "last" });

    await harness.queue.work("run", 1, work.handler);

    await harness.until(() => work.done.length > 0, "the last job");
    expect(work.done).toEqual(["last"]);
  });

  test("a job is not handed out before its transaction commits", async () => {
    const work = new Work();
    await harness.queue.work("run", 1, work.handler);

    await harness.database.transaction(async (tx) => {
      await insertJobs(tx, JOB_INSERT, [{ kind: "run", key: "slow" }]);
      await harness.send({ kind: "run", key: "quick" });
      await harness.until(() => work.done.length > 0, "the quick job");
      expect(work.done).toEqual(["quick"]);
    });

    await harness.until(() => work.done.length === 2, "the slow job");
  });

  test.each(
    JOB_KINDS.flatMap((kind) => [
      { kind, afterMs: undefined },
      { kind, afterMs: 90_000 },
    ]),
  )(
    "a job of the kind $kind is stored as the library's own send stores it (afterMs: $afterMs)",
    async (late) => {
      const { kind, afterMs } = late;
      const library = new PgBoss(harness.url);
      await library.start();
      const startAfter = afterMs === undefined ? {} : { startAfter: afterMs / 1_000 };
      await library.send(kind, { key: "b" }, { singletonKey: "b", ...startAfter });
      await library.stop({ graceful: false });

      await harness.send({ kind, key: "a", ...(afterMs === undefined ? {} : { afterMs }) });

      const [ours, theirs, ...others] = await harness.database.rows(STORED);
      expect(ours).toEqual(theirs);
      expect(ours).toMatchObject({ settings: { name: kind, state: "created" }, members: ["key"] });
      expect(others).toEqual([]);
    },
  );

  test("queues of an earlier version get the settings of this one", async () => {
    const settings = "SELECT to_jsonb(queue) - '{updated_on}'::text[] AS row FROM pgboss.queue ORDER BY name";
    const before = await harness.database.rows({ text: settings, values: [] });
    const earlier = "UPDATE pgboss.queue SET retry_limit = 2, expire_seconds = 7 RETURNING name";
    await harness.database.rows({ text: earlier, values: [] });

    const next = new PgBossQueue({
      ...{ url: harness.url, maxConnections: 2, pubsub: new InMemoryPubSub(), log: SILENT_LOG },
    });
    await next.start();
    await next.stop(0);

    expect(await harness.database.rows({ text: settings, values: [] })).toEqual(before);
  });

  test("the lag is the wait of the oldest job that is due", async () => {
    const named = await openPgBoss("build-box");
    try {
      expect(await named.queue.longestWaitSeconds()).toBeUndefined();
      await named.send({ kind: "run", key: "later", afterMs: 60_000 });
      expect(await named.queue.longestWaitSeconds()).toBeUndefined();

      await named.send({ kind: "run", key: "here", host: "build-box" });

      const seconds = await named.queue.longestWaitSeconds();
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThan(10);
    } finally {
      await named.close();
    }
  });

  test("only the worker of a host name creates the queue of that name", async () => {
    const asking = { kind: "run", key: "a", host: "build-box" } as const;
    await harness.send(asking);
    await harness.queue.ensure(asking);
    expect(await queueNames()).toEqual(["deliver", "inbox", "run", "schedule"]);

    const named = new PgBossQueue({
      ...{
        url: harness.url,
        maxConnections: 2,
        pubsub: new InMemoryPubSub(),
        log: SILENT_LOG,
        host: "build-box",
      },
    });
    await named.start();
    try {
      expect(await queueNames()).toEqual(["deliver", "inbox", "run", "run/build-box", "schedule"]);
      const work = new Work();
      await named.work("run", 1, work.handler);
      await named.ensure(asking);
      await harness.until(() => work.done.length === 1, "the job of the name");
    } finally {
      await named.stop(1_000);
    }
  });

  test("a job for a data directory goes to its worker, beside a waiting job of the same run for all workers", async () => {
    const link = { url: harness.url, maxConnections: 2, pubsub: new InMemoryPubSub(), log: SILENT_LOG };
    const withFiles = new PgBossQueue({ ...link, disk: "disk-1" });
    await withFiles.start();
    try {
      const [work, otherWork] = [new Work(), new Work()];
      await harness.queue.work("run", 1, otherWork.handler);
      await withFiles.ensure({ kind: "run", key: "a", afterMs: 60_000 });
      await withFiles.ensure({ kind: "run", key: "a", disk: "disk-1" });
      await withFiles.work("run", 1, work.handler);

      await harness.until(() => work.done.length === 1, "the job of the data directory");
      expect(otherWork.done).toEqual([]);
    } finally {
      await withFiles.stop(1_000);
    }
  });

  async function queueNames(): Promise<readonly string[]> {
    const text = "SELECT name FROM pgboss.queue WHERE name NOT LIKE '\\_%' ORDER BY name COLLATE \"C\"";
    return (await harness.database.rows<{ name: string }>({ text, values: [] })).map(({ name }) => name);
  }

  test("the job of a killed worker process is handed out again", async () => {
    const work = new Work();
    const main = join(import.meta.dirname, "../support/queue-worker-main.ts");
    const worker = fork(main, [harness.url], { execArgv: [] });
    await harness.send({ kind: "run", key: "a" });
    await once(worker, "message");
    const exited = once(worker, "exit");
    worker.kill("SIGKILL");
    await exited;

    await harness.queue.work("run", 1, work.handler);

    await waitFor(() => work.done.length > 0, { what: "the job to come again", timeoutMs: 20_000 });
    expect(work.done).toEqual(["a"]);
  });
});
