import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { JOB_KINDS } from "../../src/core/ports/queue.ts";
import { waitFor } from "../support/wait-for.ts";
import { openPgBoss } from "./pg-boss-harness.ts";
import { Work } from "./queue-contract.ts";

/** All of a job but what makes it this one. */
const STORED = {
  text: `
    SELECT to_jsonb(job) - '{id,data,singleton_key,start_after,created_on,keep_until}'::text[] AS settings,
      ARRAY(SELECT jsonb_object_keys(data)) AS members, data ->> 'key' = singleton_key AS is_keyed,
      (keep_until - created_on)::text AS kept, (start_after - created_on)::text AS delay
    FROM pgboss.job ORDER BY singleton_key`,
  values: [],
};

describe("the pg-boss queue, beside", () => {
  let harness: Awaited<ReturnType<typeof openPgBoss>>;
  beforeEach(async () => {
    harness = await openPgBoss();
  });
  afterEach(() => harness.close());

  it("never hands out a job whose transaction failed", async () => {
    const work = new Work();
    const failing = harness.database.transaction(async (tx) => {
      await harness.queue.sendJobs(tx, [{ kind: "run", key: "a" }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await harness.send({ kind: "run", key: "last" });

    await harness.queue.work("run", 1, work.handler);

    await harness.until(() => work.done.length > 0, "the last job");
    expect(work.done).toEqual(["last"]);
  });

  it("hands out no job before its transaction is through", async () => {
    const work = new Work();
    await harness.queue.work("run", 1, work.handler);

    await harness.database.transaction(async (tx) => {
      await harness.queue.sendJobs(tx, [{ kind: "run", key: "slow" }]);
      await harness.send({ kind: "run", key: "quick" });
      await harness.until(() => work.done.length > 0, "the quick job");
      expect(work.done).toEqual(["quick"]);
    });

    await harness.until(() => work.done.length === 2, "the slow job");
  });

  it.each(JOB_KINDS)("stores a job of the kind %s as the library's own send does", async (kind) => {
    await harness.queue.ensure({ kind, key: "by the library" });
    await harness.send({ kind, key: "by ours" });

    const [ours, library, ...others] = await harness.database.rows(STORED);
    expect(ours).toEqual(library);
    expect(ours).toMatchObject({ settings: { name: kind, state: "created" }, members: ["key"] });
    expect(others).toEqual([]);
  });

  it("tells how long the oldest job that could be taken has waited", async () => {
    expect(await harness.queue.longestWaitSeconds()).toBeUndefined();
    await harness.send({ kind: "run", key: "later", afterMs: 60_000 });
    expect(await harness.queue.longestWaitSeconds()).toBeUndefined();

    await harness.send({ kind: "run", key: "elsewhere", host: "other-box" });

    const seconds = await harness.queue.longestWaitSeconds();
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(10);
  });

  it("hands the job of a killed worker process out again", async () => {
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
