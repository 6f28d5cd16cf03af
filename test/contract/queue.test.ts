import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Job } from "../../src/core/ports/queue.ts";
import { MemoryNews } from "../../src/news/memory-news.ts";
import { MemoryQueue } from "../../src/queue/memory-queue.ts";
import { PgBossQueue } from "../../src/queue/pg-boss-queue.ts";
import { Database } from "../../src/storage/database.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";
import { describeQueue, type QueueBench, Work } from "./queue-contract.ts";

describeQueue("memory", async () => {
  const clock = new ManualClock();
  const queue = new MemoryQueue(clock);
  const until = async (check: () => boolean, what: string) => {
    const isSo = async () => {
      await clock.advance(100);
      return check();
    };
    await waitFor(isSo, { what, everyMs: 1 });
  };
  const send = async (...jobs: readonly Job[]) => queue.sendJobs(jobs);
  return { queue, send, until, close: async () => undefined };
});

describeQueue("pg-boss", openPgBoss);

describe("the pg-boss queue, beside", () => {
  let bench: Awaited<ReturnType<typeof openPgBoss>>;
  beforeEach(async () => {
    bench = await openPgBoss();
  });
  afterEach(() => bench.close());

  it("never hands out a job whose transaction failed", async () => {
    const work = new Work();
    const failing = bench.database.transaction(async (tx) => {
      await bench.queue.sendJobs(tx, [{ kind: "run", key: "a" }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await bench.send({ kind: "run", key: "last" });

    await bench.queue.work("run", 1, work.handler);

    await bench.until(() => work.done.length > 0, "the last job");
    expect(work.done).toEqual(["last"]);
  });

  it("hands out no job before its transaction is through", async () => {
    const work = new Work();
    await bench.queue.work("run", 1, work.handler);

    await bench.database.transaction(async (tx) => {
      await bench.queue.sendJobs(tx, [{ kind: "run", key: "slow" }]);
      await bench.send({ kind: "run", key: "quick" });
      await bench.until(() => work.done.length > 0, "the quick job");
      expect(work.done).toEqual(["quick"]);
    });

    await bench.until(() => work.done.length === 2, "the slow job");
  });

  it("hands the job of a killed worker process out again", async () => {
    const work = new Work();
    const main = join(import.meta.dirname, "../support/queue-worker-main.ts");
    const worker = fork(main, [bench.url], { execArgv: [] });
    await bench.send({ kind: "run", key: "a" });
    await once(worker, "message");
    const exited = once(worker, "exit");
    worker.kill("SIGKILL");
    await exited;

    await bench.queue.work("run", 1, work.handler);

    await waitFor(() => work.done.length > 0, { what: "the job to come again", timeoutMs: 20_000 });
    expect(work.done).toEqual(["a"]);
  });
});

async function openPgBoss() {
  const testDatabase = await createTestDatabase();
  const { url } = testDatabase;
  const database = new Database({ url, maxConnections: 4, log: () => undefined });
  const news = new MemoryNews();
  const queue = new PgBossQueue({ url, maxConnections: 4, news, log: () => undefined });
  await queue.start();
  const send: QueueBench["send"] = async (...jobs) => {
    await database.transaction((tx) => queue.sendJobs(tx, jobs));
    news.tell(jobs.map(({ kind }) => `jobs:${kind}`));
  };
  const until: QueueBench["until"] = async (check, what) => {
    await waitFor(check, { what });
  };
  const close = async () => {
    await queue.stop(1_000);
    await database.close();
    await testDatabase.drop();
  };
  return { queue, database, url, send, until, close };
}
