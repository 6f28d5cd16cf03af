import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FORWARDER } from "../../../src/sandboxes/port-forward.ts";
import type { EmulatedSlack } from "../../support/emulated-slack.ts";
import { type CheckedSystem, checkInvariants, slackThreads } from "../../support/invariants.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { FaultHarness } from "./fault-harness.ts";

const ANSWER = "the words of the agent";

let harness: FaultHarness;
let slack: EmulatedSlack;
let origin: TestDatabase;
let runId: string;
const delivery = { adapter: "slack", deliveryId: "" };

/** One completed run that was requested in Slack. Each test damages a copy of the database or of what Slack shows. */
beforeAll(async () => {
  origin = await createTestDatabase();
  harness = await FaultHarness.open({ databaseUrl: origin.url, withSlack: true });
  slack = harness.slack;
  const worker = await harness.start();
  runId = await harness.mention(worker, `say ${ANSWER}`);
  await worker.api.waitForState(runId, "SUCCEEDED");
  await harness.check();
  await worker.end("SIGTERM");
  // A job that its worker left behind would handle the rows that the tests damage.
  await harness.rows("DELETE FROM pgboss.job");
  const [event] = await harness.rows<{ delivery_id: string }>("SELECT delivery_id FROM inbox_events");
  delivery.deliveryId = event?.delivery_id ?? "";
  await harness.rows(KEEP);
});

afterAll(async () => {
  await harness?.close();
  await origin?.drop();
});

const KEEP = `
  CREATE SCHEMA kept;
  CREATE TABLE kept.runs AS TABLE runs;
  CREATE TABLE kept.run_events AS TABLE run_events;
  CREATE TABLE kept.inbox_events AS TABLE inbox_events;
  CREATE TABLE kept.outbox_deliveries AS TABLE outbox_deliveries`;
const RESTORE = `
  DELETE FROM run_leases;
  DELETE FROM run_queue;
  DELETE FROM run_events;
  INSERT INTO run_events TABLE kept.run_events;
  UPDATE runs SET state = k.state, last_seq = k.last_seq, lease_token = null, lease_expires_at = null
    FROM kept.runs k WHERE k.id = runs.id;
  UPDATE inbox_events e SET disposition = k.disposition FROM kept.inbox_events k WHERE k.id = e.id;
  UPDATE outbox_deliveries d SET state = k.state FROM kept.outbox_deliveries k WHERE k.id = d.id`;

/** Changes the rows for the duration of one test. */
async function applyDamage(sql: string): Promise<void> {
  onTestFinished(async () => void (await harness.rows(RESTORE)));
  await harness.rows(sql);
}

function violationsIn(system: Partial<CheckedSystem> = {}): Promise<string> {
  const intactSystem = { databaseUrl: origin.url, threads: [slackThreads(slack)], patienceMs: 0, ...system };
  return checkInvariants(intactSystem).then(
    () => "none",
    (error: Error) => error.message,
  );
}

test("an intact system violates no invariant", async () => {
  const violations = await violationsIn({ acknowledged: { runIds: [runId], deliveries: [delivery] } });

  expect(violations).toBe("none");
});

describe("I1: an acknowledged create has its run, an acknowledged webhook its disposition", () => {
  test("an acknowledged run that does not exist violates I1", async () => {
    const violations = await violationsIn({ acknowledged: { runIds: [runId, randomUUID()] } });

    expect(violations).toMatch(/^Violated:\nI1 run \S+ was acknowledged and is not there$/);
  });

  test.each([
    ["that was never stored", "SELECT 1"],
    ["that has no result", "UPDATE inbox_events SET disposition = NULL"],
  ])("an acknowledged delivery %s", async (name, sql) => {
    const deliveries = name === "that was never stored" ? [{ ...delivery, deliveryId: "other" }] : [delivery];
    await applyDamage(sql);

    const violations = await violationsIn({ acknowledged: { deliveries } });

    expect(violations).toMatch(/I1 slack delivery \S+ was acknowledged and has no disposition/);
  });
});

/** Adds a state change of the run to its log. */
function append(from: string, to: string): string {
  const body = JSON.stringify({ kind: "run.state", from, to });
  return `
    WITH next AS (UPDATE runs SET last_seq = last_seq + 1, state = '${to}' RETURNING id, last_seq)
    INSERT INTO run_events (run_id, seq, turn, kind, body)
    SELECT id, last_seq, 1, 'run.state', '${body}' FROM next`;
}

/** Gives the run a lease that expires at this time. */
function leasedUntil(expiresAt: string): string {
  return `
    WITH leased AS (UPDATE runs SET state = 'PENDING', lease_token = gen_random_uuid() RETURNING id, lease_token)
    INSERT INTO run_leases SELECT id, lease_token, ${expiresAt} FROM leased`;
}

describe("I2: runs change state only by the transition table", () => {
  test.each([
    ["a second end", append("SUCCEEDED", "FAILED"), "went from SUCCEEDED"],
    ["an end after one that the log forgets", append("INPROGRESS", "SUCCEEDED"), "went from SUCCEEDED"],
    ["an end left without a follow-up", append("SUCCEEDED", "QUEUED"), "left SUCCEEDED"],
    [
      "a step left out",
      `UPDATE run_events SET body = '{"kind": "run.state", "from": "QUEUED", "to": "CLAIMED"}'
        WHERE kind = 'run.state' AND body->>'to' = 'PENDING'`,
      "went from QUEUED",
    ],
  ])("the check of state changes finds: %s", async (_name, sql, expectedText) => {
    await applyDamage(sql);

    const violations = await violationsIn();

    expect(violations).toContain(`I2 run ${runId} ${expectedText}`);
  });
});

describe("I3: the events of a run have no gap, are dated in their order and replay to its state", () => {
  test.each([
    ["a hole", "DELETE FROM run_events WHERE seq = 3", "has events 1, 2, 4"],
    [
      "a time that goes back",
      "UPDATE run_events SET at = at - interval '1 hour' WHERE seq = 3",
      "dates event 3 before",
    ],
    ["a log that is longer than is said", "UPDATE runs SET last_seq = last_seq - 1", "says"],
    [
      "a state that the log does not know",
      "UPDATE runs SET state = 'FAILED'",
      "is FAILED, its log replays to",
    ],
  ])("the check of event logs finds: %s", async (_name, sql, expectedText) => {
    await applyDamage(sql);

    const violations = await violationsIn();

    expect(violations).toContain(`I3 run ${runId} ${expectedText}`);
  });
});

describe("I4: a thread shows one card per run in its state, and each end once", () => {
  const broken = (change: (shown: ReturnType<ReturnType<typeof slackThreads>["read"]>) => unknown) => {
    const intactSystem = slackThreads(slack);
    const read = (key: string) => change(intactSystem.read(key)) as ReturnType<typeof intactSystem.read>;
    return violationsIn({ threads: [{ ...intactSystem, read }] });
  };

  test("a message that is shown twice violates I4", async () => {
    expect(await broken((shown) => [...shown, ...shown.slice(0, 1)])).toContain(
      `I4 card:${runId} is shown twice`,
    );
  });

  test("a card that shows an older state violates I4", async () => {
    const violations = await broken((shown) => shown.map((message) => ({ ...message, says: "Working" })));

    expect(violations).toContain("is SUCCEEDED, its card in");
  });

  test("a missing card violates I4", async () => {
    expect(await broken((shown) => shown.filter(({ isAnswer }) => isAnswer))).toContain("its card in");
  });

  test("a missing answer violates I4", async () => {
    expect(await broken((shown) => shown.filter(({ isAnswer }) => !isAnswer))).toContain("shows 0");
  });

  test("an answer that was posted twice with two keys violates I4", async () => {
    const second = { messageKey: "message:other", says: "", isAnswer: true };

    expect(await broken((shown) => [...shown, second])).toContain("shows 2");
  });
});

describe("I5: at most one agent lives per run, and none for an idle run", () => {
  async function startAgent(...wrapper: readonly string[]): Promise<void> {
    const HOME = `/data/runs/${runId}/home`;
    const script = "process.stdout.write('x'); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ["-e", script, ...wrapper, "agents/demo/main.ts"], {
      env: { HOME },
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    await once(child.stdout, "data");
  }

  test("an agent of a run that has ended violates I5", async () => {
    await startAgent();

    expect(await violationsIn()).toContain(`I5 run ${runId} is SUCCEEDED and free, but has processes`);
  });

  test("two agents of one run violate I5", async () => {
    await startAgent();
    await startAgent();

    expect(await violationsIn()).toContain(`I5 run ${runId} has 2 agents`);
  });

  test("an agent and its port forwarder are one agent", async () => {
    await startAgent(FORWARDER, "8080", "/data/gateway.socket", "--");
    await startAgent();

    expect(await violationsIn()).not.toContain("agents");
  });

  test("a secret in an agent's environment violates I6", async () => {
    await startAgent();

    expect(await violationsIn({ canaries: [`runs/${runId}`] })).toContain(
      "I6 a canary is in an agent's environment",
    );
  });
});

describe("I6: no secret is stored, printed, answered, posted or given to an agent", () => {
  test.each([
    ["stored", {}, "is in the table public.runs"],
    ["posted", {}, "was printed, answered or posted"],
    [
      "printed",
      { threads: [], responses: [`a line with ${ANSWER} in it`] },
      "was printed, answered or posted",
    ],
  ])("a canary that was %s", async (_name, system, expectedText) => {
    expect(await violationsIn({ ...system, canaries: [ANSWER] })).toContain(`I6 a canary ${expectedText}`);
  });
});

describe("I7: everything that waits is in a queue, and every run that a worker has is under a lease", () => {
  test.each([
    [
      "a queued run that is not in the queue",
      `${append("SUCCEEDED", "QUEUED")}; DELETE FROM run_queue`,
      /I7 run \S+ is QUEUED and free, and is not in the queue/,
    ],
    [
      "a run in the queue that has ended",
      `INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at)
       SELECT id, team_id, creator_id, 1, '', now() FROM runs`,
      /I7 run \S+ is in the queue, and does not wait/,
    ],
    [
      "an event without a result",
      "UPDATE inbox_events SET disposition = NULL",
      /I7 inbox event \S+ has no result and no job/,
    ],
    ["a waiting delivery", "UPDATE outbox_deliveries SET state = 'waiting'", /I7 delivery \S+ waits/],
    ["a moving run without a lease", "UPDATE runs SET state = 'PENDING'", /I7 run \S+ is PENDING/],
    [
      "a moving run whose lease is long over",
      leasedUntil("now() - interval '61 seconds'"),
      /I7 run \S+ is PENDING/,
    ],
    [
      "the expiry of a lease that no run has",
      "INSERT INTO run_leases SELECT id, gen_random_uuid(), now() FROM runs",
      /I7 run \S+ has no lease, and its expiry is stored/,
    ],
  ])("the check of queues and leases finds: %s", async (_name, sql, expectedText) => {
    await applyDamage(sql);

    expect(await violationsIn()).toMatch(expectedText);
  });

  test("a lease that expired just now does not violate I7", async () => {
    await applyDamage(leasedUntil("now() - interval '20 seconds'"));

    expect(await violationsIn()).not.toContain("I7");
  });
});
