import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChaosProxy, startChaosProxy } from "../../support/chaos-proxy.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { FaultHarness, type Worker } from "./fault-harness.ts";

/** The longest time to an answer while the database is silent, and to readiness when it is back. */
const ANSWER_MS = 15_000;
const READY_MS = 15_000;
/** Enough cuts that some hit the writes of the attempt, and not only the other writes of the process. */
const CUTS = 4;
/**
 * On a used connection COMMIT is a prepared statement, which the proxy cannot read. So all connections are replaced.
 */
const BREAK_POOL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'errand'";

let server: PostgresServer;
let proxy: ChaosProxy;
let harness: FaultHarness;
let worker: Worker;

/** One process whose connection to the database can be broken. It must survive all of these tests. */
beforeAll(async () => {
  server = await startPostgresServer();
  const { hostname: host, port } = new URL(server.url);
  proxy = await startChaosProxy({ host, port: Number(port) });
  harness = await FaultHarness.open({ databaseUrl: server.url });
  const DATABASE_URL = server.url.replace(`:${port}/`, `:${proxy.port}/`);
  worker = await harness.start({ DATABASE_URL, ERRAND_DATABASE_CONNECTIONS: "10" });
});

afterAll(async () => {
  await harness?.close();
  await proxy?.stop();
  await server?.stop();
});

describe("a database that does not answer", () => {
  test("a database that does not answer gives 503 within seconds; the process survives and continues by itself", async () => {
    const semaphore = harness.semaphore();
    const runId = await harness.createRun(worker, semaphore.step);
    await worker.api.waitForState(runId, "INPROGRESS");
    proxy.blackHole();

    const answers = await Promise.all([
      timed(() => worker.api.call("POST", "/agent/runs", { prompt: "say hello" })),
      timed(() => worker.api.call("GET", `/agent/runs/${runId}`)),
      timed(() => fetch(`${worker.url}/readyz`)),
      timed(() => fetch(`${worker.url}/healthz`)),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 200]);
    for (const { elapsedMs } of answers) {
      expect(elapsedMs).toBeLessThan(ANSWER_MS);
    }
    proxy.heal();
    await waitFor(async () => (await fetch(`${worker.url}/readyz`)).ok, { what: "readiness" });
    await semaphore.open();
    await worker.api.waitForState(runId, "SUCCEEDED");
    await worker.api.waitForState(await harness.createRun(worker, "say hello"), "SUCCEEDED");
    await harness.check();
  });
});

describe("a connection that is cut after the commit", () => {
  test("a connection that is cut after the commit leaves one run for the idempotency key, which a retry returns", async () => {
    const key = await createThroughCut();
    const headers = { "idempotency-key": key };

    const again = await worker.api.call("POST", "/agent/runs", { prompt: key }, headers);

    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(await harness.rows("SELECT id::text AS run_id FROM runs WHERE prompt = $1", key)).toEqual([
      { run_id: (again.body as { run_id: string }).run_id },
    ]);
    await harness.check();
  });

  test("a connection that is cut after the commit leaves everything of an attempt stored once", async () => {
    const semaphore = harness.semaphore();
    const runId = await harness.createRun(worker, `${semaphore.step}\nsay finished`);
    await worker.api.waitForState(runId, "INPROGRESS");

    for (let cuts = 1; cuts <= CUTS; cuts += 1) {
      await harness.rows(BREAK_POOL);
      await proxy.cutAfterCommit();
    }
    await semaphore.open();

    await worker.api.waitForState(runId, "SUCCEEDED");
    const events = (await worker.api.events(runId)).map(({ seq: _seq, at: _at, ...event }) =>
      JSON.stringify(event),
    );
    expect(events.filter((event, index) => events.indexOf(event) !== index)).toEqual([]);
    await harness.check();
  });
});

describe("the connection for notifications", () => {
  test("the connection for notifications is opened again when it breaks", async () => {
    const [before] = await newsConnections();

    await harness.rows("SELECT pg_terminate_backend($1)", before?.pid);

    await waitFor(async () => (await newsConnections()).some(({ pid }) => pid !== before?.pid), {
      what: "another connection for news",
    });
    await worker.api.waitForState(await harness.createRun(worker, "say hello"), "SUCCEEDED");
    await harness.check();
  });
});

describe("a database that is killed under load", () => {
  test("a database that is killed under load keeps every acknowledged run; the process survives and is ready again", async () => {
    const stopCrowd = startCrowd();
    const load = startLoad();
    await waitFor(() => load.runIds.length >= 6, { what: "runs to be acknowledged" });

    await server.kill9();
    await waitFor(async () => (await fetch(`${worker.url}/readyz`)).status === 503, {
      what: "not being ready",
    });
    await server.restart();
    const backAt = performance.now();
    await waitFor(async () => (await fetch(`${worker.url}/readyz`)).ok, {
      what: "readiness",
      timeoutMs: READY_MS,
    });

    expect(performance.now() - backAt).toBeLessThan(READY_MS);
    await stopCrowd();
    await load.done;
    for (const runId of load.runIds) {
      await worker.api.waitForState(runId, "SUCCEEDED", 60_000);
    }
    await harness.check();
  }, 100_000);
});

async function timed(ask: () => Promise<{ readonly status: number }>) {
  const begun = performance.now();
  const { status } = await ask();
  return { status, elapsedMs: performance.now() - begun };
}

/**
 * Other transactions commit too, and a create can get a connection that was just broken. So this repeats until a
 * create was the statement that was cut. The idempotency key is also the prompt.
 */
async function createThroughCut(): Promise<string> {
  for (let tries = 1; tries <= 20; tries += 1) {
    const key = `cut-${tries}`;
    await harness.rows(BREAK_POOL);
    const cut = proxy.cutAfterCommit();
    const answer = await worker.api.call("POST", "/agent/runs", { prompt: key }, { "idempotency-key": key });
    if (proxy.awaitsCommit) {
      continue;
    }
    await cut;
    const stored = await harness.rows("SELECT 1 FROM runs WHERE prompt = $1", key);
    if (answer.status === 503 && stored.length === 1) {
      return key;
    }
  }
  throw new Error("No create was cut off");
}

function newsConnections(): Promise<{ pid: number }[]> {
  return harness.rows("SELECT pid FROM pg_stat_activity WHERE application_name = 'errand notifications'");
}

const CROWD = 16;

/** Starts so many transactions at once that some of them are just getting a connection when it breaks. */
function startCrowd(): () => Promise<unknown> {
  let goesOn = true;
  const crowd = Array.from({ length: CROWD }, async () => {
    while (goesOn) {
      expect([404, 503]).toContain((await worker.api.cancel(crypto.randomUUID())).status);
    }
  });
  return () => {
    goesOn = false;
    return Promise.all(crowd);
  };
}

const LOADERS = 4;
const RUNS_EACH = 4;

/** Starts callers that retry until they get an answer, as the client libraries do. */
function startLoad() {
  const runIds: string[] = [];
  const ask = async (key: string): Promise<void> => {
    const runId = await waitFor(() => askOnce(key), {
      what: "an acknowledgement",
      timeoutMs: 60_000,
      everyMs: 200,
    });
    runIds.push(runId);
    harness.acknowledge(runId);
  };
  const loaders = Array.from({ length: LOADERS }, async (_, loader) => {
    for (let index = 0; index < RUNS_EACH; index += 1) {
      await ask(`load-${loader}-${index}`);
    }
  });
  return { runIds, done: Promise.all(loaders) };
}

async function askOnce(key: string): Promise<string | undefined> {
  const answer = await worker.api.call(
    "POST",
    "/agent/runs",
    { prompt: "say hello" },
    { "idempotency-key": key },
  );
  if (answer.status === 200) {
    return (answer.body as { run_id: string }).run_id;
  }
  if (answer.status !== 503 && answer.status !== 409) {
    throw new Error(`Answered ${answer.status}`);
  }
  return undefined;
}
