import { afterEach, beforeEach, expect, test } from "vitest";
import { PgBossQueue } from "../../../src/queue/pg-boss-queue.ts";
import { openPgBoss } from "../../contract/pg-boss-harness.ts";
import { Work } from "../../contract/queue-contract.ts";
import { type ChaosProxy, startChaosProxy } from "../../support/chaos-proxy.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemoryPubSub } from "../../support/memory/memory-pubsub.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Each connection that died costs one of these. */
const STATEMENT_MS = 1_000;
const HEALS = { what: "the queue to go on", timeoutMs: 20_000 };

let harness: Awaited<ReturnType<typeof openPgBoss>>;
let proxy: ChaosProxy;
let queue: PgBossQueue;

/** A worker's queue behind a link, on a database where another one has made the tables. */
beforeEach(async () => {
  harness = await openPgBoss();
  const { pathname, port, searchParams, username } = new URL(harness.url);
  proxy = await startChaosProxy({ path: `${searchParams.get("host")}/.s.PGSQL.${port}` });
  const url = `postgresql://${username}@127.0.0.1:${proxy.port}${pathname}`;
  queue = new PgBossQueue({
    ...{ url, maxConnections: 2, statementMs: STATEMENT_MS },
    ...{ pubsub: new InMemoryPubSub(), log: SILENT_LOG },
  });
  await queue.start();
});

afterEach(async () => {
  // First, or a queue that still waits for its answers would not stop.
  await proxy.stop();
  await queue.stop(1_000);
  await harness.close();
});

test("a worker whose connections died without a word takes jobs again, and ensures them", async () => {
  const work = new Work();
  await queue.work("run", 1, work.handler);
  await harness.send({ kind: "run", key: "before" });
  await waitFor(() => work.done.length === 1, { what: "the first job" });

  proxy.strandAll();
  await harness.send({ kind: "run", key: "waiting" });
  await Promise.all([
    waitFor(() => queue.ensure({ kind: "run", key: "ensured" }).then(() => true), HEALS),
    waitFor(() => work.done.length === 3, HEALS),
  ]);

  expect(work.done.toSorted()).toEqual(["before", "ensured", "waiting"]);
});
