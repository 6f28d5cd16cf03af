import { afterEach, beforeEach, expect, test } from "vitest";
import { PgBossQueue } from "../../../src/storage/queue/pg-boss-queue.ts";
import { openPgBoss } from "../../contract/pg-boss-harness.ts";
import { Work } from "../../contract/queue-contract.ts";
import { type ChaosProxy, startChaosProxy } from "../../support/chaos-proxy.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Each dead connection costs one such time-out. */
const STATEMENT_MS = 1_000;
const HEALS = { what: "the queue to go on", timeoutMs: 60_000 };

let harness: Awaited<ReturnType<typeof openPgBoss>>;
let proxy: ChaosProxy;
let queue: PgBossQueue;

/** Opens a worker's queue behind a proxy, on a database where another queue has created the tables. */
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
  // The proxy stops first, because otherwise the queue waits for its answers and does not stop.
  await proxy.stop();
  await queue.stop(1_000);
  await harness.close();
});

test("a worker whose connections died silently takes and ensures jobs again", async () => {
  const work = new Work();
  await queue.work("schedule", 1, work.handler);
  await harness.send({ kind: "schedule", key: "before" });
  await waitFor(() => work.done.length === 1, { what: "the first job" });

  proxy.strandAll();
  await harness.send({ kind: "schedule", key: "waiting" });
  await Promise.all([
    waitFor(() => queue.ensure({ kind: "schedule", key: "ensured" }).then(() => true), HEALS),
    waitFor(() => work.done.length === 3, HEALS),
  ]);

  expect(work.done.toSorted()).toEqual(["before", "ensured", "waiting"]);
});
