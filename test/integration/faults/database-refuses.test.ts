import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgresServer } from "../../support/postgres-server.ts";
import { mountSmallDisk, reasonToSkipSmallDisk, type SmallDisk } from "../../support/small-disk.ts";
import { waitFor } from "../../support/wait-for.ts";
import { FaultHarness, type Worker } from "./fault-harness.ts";

const DISK_MB = 160;
/** Enough for one process of the service, and few enough to be taken quickly. */
const SETTINGS = ["max_connections=30", "autovacuum=off"];
/** The role of a real installation: not a superuser, for which PostgreSQL keeps connections. */
const ROLE = "ordinary";
/** Larger than what may be left on a page. */
const LONG_PROMPT_LENGTH = 100_000;

const skipped = await reasonToSkipSmallDisk();

let disk: SmallDisk | undefined;
let server: PostgresServer;
let harness: FaultHarness;
let worker: Worker;
let url: string;

beforeAll(async () => {
  disk = skipped === undefined ? await mountSmallDisk(DISK_MB) : undefined;
  server = await startPostgresServer({ settings: SETTINGS, ...(disk && { tables: disk.path }) });
  harness = await FaultHarness.open({ databaseUrl: server.url, withSlack: true });
  await harness.rows(`CREATE ROLE ${ROLE} LOGIN`);
  await harness.rows(`GRANT CREATE ON DATABASE postgres TO ${ROLE}`);
  await harness.rows(`GRANT ALL ON SCHEMA public TO ${ROLE}`);
  url = server.url.replace("errand@", `${ROLE}@`);
  worker = await harness.start({ DATABASE_URL: url });
});

afterAll(async () => {
  await harness?.close();
  await server?.stop();
  await disk?.unmount();
});

describe("a database without a free connection for an ordinary role", () => {
  test("a database without a free connection is answered with 503; the run in work waits and ends as usual", async () => {
    const run = await startRun();
    const release = await takeAllConnections();

    const answers = await Promise.all([
      worker.api.call("POST", "/agent/runs", { prompt: "say hello" }),
      worker.api.call("GET", "/agent/runs"),
      fetch(`${worker.url}/readyz`),
    ]);
    await expect(harness.sendMention(worker, "say hello")).rejects.toThrow("503");
    await run.end();
    await waitFor(() => worker.output().includes("lease.renewal.failed"), { what: "a failed renewal" });

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(answers[0]?.headers.get("retry-after")).toBe("1");
    await release();
    await expectRecovery(run.id);
  }, 60_000);
});

describe.skipIf(skipped !== undefined)(`a full disk of the database${skipped ? ` (${skipped})` : ""}`, () => {
  test("a full disk of the database is answered with 503; the run in work waits, and no acknowledged event is lost", async () => {
    const run = await startRun();
    await disk?.fill();

    await waitFor(async () => (await createLong()) === 503, { what: "a create to be refused" });
    await waitFor(async () => (await fetch(`${worker.url}/readyz`)).status === 503, {
      what: "not being ready",
    });
    await waitFor(mentionIsRefused, { what: "an event to be refused" });
    expect((await worker.api.call("GET", "/agent/runs")).status).toBe(200);
    await run.end();
    await disk?.free();

    await expectRecovery(run.id);
    await allEventsAreCompleted();
  }, 60_000);
});

describe("a database that is read-only, as after a fail-over to a standby", () => {
  test("a read-only database gives 503 for writes and serves reads; the run in work waits and ends as usual", async () => {
    const run = await startRun();
    await harness.rows(`ALTER ROLE ${ROLE} SET default_transaction_read_only = on`);
    await breakConnections();

    await waitFor(async () => (await fetch(`${worker.url}/readyz`)).status === 503, {
      what: "not being ready",
    });
    const created = await worker.api.call("POST", "/agent/runs", { prompt: "say hello" });
    const list = await worker.api.call("GET", "/agent/runs");
    await run.end();

    expect([created.status, list.status]).toEqual([503, 200]);
    expect(created.headers.get("retry-after")).toBe("1");
    await harness.rows(`ALTER ROLE ${ROLE} RESET default_transaction_read_only`);
    await breakConnections();
    await expectRecovery(run.id);
  }, 60_000);
});

/** A run that is in the middle of its turn until `end` is called. */
async function startRun(): Promise<{ readonly id: string; end(): Promise<void> }> {
  const semaphore = harness.semaphore();
  const id = await harness.createRun(worker, `${semaphore.step}\nsay finished`);
  await worker.api.waitForState(id, "INPROGRESS");
  return { id, end: () => semaphore.open() };
}

async function expectRecovery(runId: string): Promise<void> {
  await waitFor(async () => (await fetch(`${worker.url}/readyz`)).ok, {
    what: "readiness",
    timeoutMs: 60_000,
  });
  await worker.api.waitForState(runId, "SUCCEEDED", 30_000);
  await worker.api.waitForState(await harness.createRun(worker, "say hello"), "SUCCEEDED", 30_000);
  const [run] = await harness.rows("SELECT attempt FROM runs WHERE id = $1", runId);
  expect(run).toEqual({ attempt: 1 });
  await harness.check();
}

/** Cuts all connections of the service, and takes each one that becomes free, until the service has none. */
async function takeAllConnections(): Promise<() => Promise<void>> {
  const taken: pg.Client[] = [];
  await waitFor(
    async () => {
      await breakConnections();
      while (await take(taken)) {}
      return (await connectionsOfService()) === 0;
    },
    { what: "all connections to be taken", timeoutMs: 60_000 },
  );
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
}

async function take(taken: pg.Client[]): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: "errand tests" });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === "53300") {
      return false;
    }
    throw error;
  }
  taken.push(client);
  return true;
}

const OF_SERVICE = `usename = '${ROLE}' AND application_name <> 'errand tests'`;

async function breakConnections(): Promise<void> {
  await harness.rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OF_SERVICE}`);
}

async function connectionsOfService(): Promise<number> {
  return (await harness.rows(`SELECT pid FROM pg_stat_activity WHERE ${OF_SERVICE}`)).length;
}

async function createLong(): Promise<number> {
  const prompt = `say ${"x".repeat(LONG_PROMPT_LENGTH)}`;
  const answer = await worker.api.call("POST", "/agent/runs", { prompt });
  if (answer.status === 200) {
    harness.acknowledge((answer.body as { run_id: string }).run_id);
  }
  return answer.status;
}

/** There may still be room on a page of the table. */
async function mentionIsRefused(): Promise<boolean> {
  try {
    await harness.sendMention(worker, "say hello");
    return false;
  } catch (error) {
    expect(String(error)).toContain("503");
    return true;
  }
}

async function allEventsAreCompleted(): Promise<void> {
  const open = "SELECT id FROM inbox_events WHERE disposition IS NULL";
  await waitFor(async () => (await harness.rows(open)).length === 0, {
    what: "all events",
    timeoutMs: 30_000,
  });
  const failed = "SELECT id FROM inbox_events WHERE disposition = 'failed'";
  expect(await harness.rows(failed)).toEqual([]);
}
