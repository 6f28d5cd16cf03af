import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { JOB_KINDS, type JobHandler } from "../../src/core/ports/queue.ts";
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

/** More than one round of the library's upkeep. */
const MEASURED_MS = 8_000;

describe("the pg-boss queue, in addition to the contract,", () => {
  let harness: Awaited<ReturnType<typeof openPgBoss>>;
  beforeEach(async () => {
    harness = await openPgBoss();
  });
  afterEach(() => harness.close());

  test("a job whose transaction failed is never handed out", async () => {
    const work = new Work();
    const failing = harness.database.transaction(async (tx) => {
      await insertJobs(tx, JOB_INSERT, [{ kind: "schedule", key: "a" }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await harness.send({ kind: "schedule", key: "last" });

    await harness.queue.work("schedule", 1, work.handler);

    await harness.until(() => work.done.length > 0, "the last job");
    expect(work.done).toEqual(["last"]);
  });

  test("a job is not handed out before its transaction commits", async () => {
    const work = new Work();
    await harness.queue.work("schedule", 1, work.handler);

    await harness.database.transaction(async (tx) => {
      await insertJobs(tx, JOB_INSERT, [{ kind: "schedule", key: "slow" }]);
      await harness.send({ kind: "schedule", key: "quick" });
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

  test("a job whose time comes starts then, also after a failure", async () => {
    const work = new Work();
    let isFirst = true;
    const failOnce = async (...[key, signal]: Parameters<JobHandler>) => {
      if (isFirst) {
        isFirst = false;
        throw new Error("Not yet.");
      }
      await work.handler(key, signal);
    };
    await harness.queue.work("schedule", 1, failOnce);

    await harness.send({ kind: "schedule", key: "retried" });
    await harness.until(() => work.done.length === 1, "the retried job");
    for (const key of ["a", "b"]) {
      const before = work.done.length;
      await harness.send({ kind: "schedule", key, afterMs: 1_000 });
      await harness.until(() => work.done.length > before, "the delayed job");
    }

    const late =
      "SELECT max(extract(epoch FROM started_on - start_after))::float8 AS seconds FROM pgboss.job";
    const [row] = await harness.database.rows<{ seconds: number }>({ text: late, values: [] });
    expect(row?.seconds).toBeLessThan(2);
  });

  test("two idle processes send few statements", async () => {
    const other = new PgBossQueue({
      ...{ url: harness.url, maxConnections: 2, pubsub: new InMemoryPubSub(), log: SILENT_LOG },
    });
    await other.start();
    for (const queue of [harness.queue, other]) {
      for (const kind of JOB_KINDS) {
        await queue.work(kind, 1, async () => undefined);
      }
    }

    const sent = vi.spyOn(pg.Client.prototype, "query");
    const begun = performance.now();
    await waitFor(() => performance.now() - begun > MEASURED_MS, { what: "the end of the measurement" });
    const perSecond = sent.mock.calls.length / (MEASURED_MS / 1_000);
    sent.mockRestore();
    await other.stop(0);

    expect(perSecond).toBeLessThan(7);
  });

  test("the lag is the wait of the oldest job that is due", async () => {
    expect(await harness.queue.longestWaitSeconds()).toBeUndefined();
    await harness.send({ kind: "schedule", key: "later", afterMs: 60_000 });
    expect(await harness.queue.longestWaitSeconds()).toBeUndefined();

    await harness.send({ kind: "schedule", key: "now" });

    const seconds = await harness.queue.longestWaitSeconds();
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(10);
  });

  test("the lag counts runs that wait for a worker", async () => {
    const queuedAt = "clock_timestamp() - interval '5 minutes'";
    const ids = "gen_random_uuid(), gen_random_uuid(), gen_random_uuid()";
    const text = `INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at) SELECT ${ids}, 1, '', ${queuedAt}`;

    await harness.database.rows({ text, values: [] });

    expect(await harness.queue.longestWaitSeconds()).toBeGreaterThanOrEqual(300);
  });

  test("the job of a killed worker process is handed out again", async () => {
    const work = new Work();
    const main = join(import.meta.dirname, "../support/queue-worker-main.ts");
    const worker = fork(main, [harness.url], { execArgv: [] });
    await harness.send({ kind: "schedule", key: "a" });
    await once(worker, "message");
    const exited = once(worker, "exit");
    worker.kill("SIGKILL");
    await exited;

    await harness.queue.work("schedule", 1, work.handler);

    await waitFor(() => work.done.length > 0, { what: "the job to come again", timeoutMs: 60_000 });
    expect(work.done).toEqual(["a"]);
  });
});
