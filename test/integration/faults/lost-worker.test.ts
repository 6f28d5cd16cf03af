import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { waitFor } from "../../support/wait-for.ts";
import { withFaultHarness } from "./fault-harness.ts";

const run = promisify(execFile);

/** Another worker takes up the run of a lost worker within this time (docs/reliability.md). */
const PROMISE_MS = 60_000;
/** Any other process notices a lost worker within this time: 8 seconds, and what other load adds. */
const NOTICED_MS = 14_000;
/** Five tests start up to fifteen processes at once. Each wait has a limit of its own. */
const LIMIT = { timeout: 240_000 };

describe.concurrent("a worker that is lost", LIMIT, () => {
  test("if a worker is lost while its agent works, another worker takes up the run and ends it", () =>
    withFaultHarness(
      async (harness) => {
        const semaphore = harness.semaphore();
        const lost = await harness.start();
        const runId = await harness.mention(lost, `say begun\n${semaphore.step}\nsay finished`);
        await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 1 in%'");

        await lost.end("SIGKILL");
        await semaphore.open();
        const other = await harness.start();

        await other.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
        const events = await other.api.events(runId);
        expect(events.filter(({ kind }) => kind === "attempt.started")).toHaveLength(2);
        expect(events.filter(({ kind }) => kind === "turn.ended")).toHaveLength(1);
        await harness.check();
      },
      { withSlack: true },
    ));

  test("if a worker is lost beside another one, that one takes up its run within seconds", () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const lost = await harness.start({ ERRAND_ROLE: "worker" });
      const runId = await harness.createRun(api, semaphore.step);
      await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 1 in%'");
      await harness.start({ ERRAND_ROLE: "worker" });

      const lostAt = performance.now();
      await lost.end("SIGKILL");
      await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND attempt = 2", runId);

      expect(performance.now() - lostAt).toBeLessThan(NOTICED_MS);
      await semaphore.open();
      await api.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      await harness.check();
    }));

  test("if the only worker is lost, two API processes alone queue its run once, and the run says what it waits for", () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const [api] = await Promise.all([
        harness.start({ ERRAND_ROLE: "api" }),
        harness.start({ ERRAND_ROLE: "api" }),
      ]);
      const lost = await harness.start({ ERRAND_ROLE: "worker" });
      const runId = await harness.createRun(api, semaphore.step);
      await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 1 in%'");

      await lost.end("SIGKILL");

      await api.api.waitForState(runId, "QUEUED", NOTICED_MS);
      const waiting = await waitFor(async () => (await api.api.getRun(runId)).waiting_for, {
        what: "the run to say what it waits for",
      });
      expect(waiting).toMatchObject({ reason: "capacity", message: "No worker is connected." });
      const events = await api.api.events(runId);
      expect(events.filter(({ kind }) => kind === "attempt.ended")).toHaveLength(1);
      await semaphore.open();
      await harness.start({ ERRAND_ROLE: "worker" });
      await api.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      await harness.check();
    }));

  test("if a worker is lost between claim and agent start, the run is claimed again and the agent works once", () =>
    withFaultHarness(async (harness) => {
      const mark = harness.mark();
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const runId = await harness.createRun(api, mark.step);
      const dataDir = harness.newDataDir();
      await blockPreparation(dataDir, runId);
      const lost = await harness.start({ ERRAND_ROLE: "worker" }, dataDir);
      await harness.waitForRow("SELECT 1 FROM runs WHERE state = 'PENDING' AND lease_token IS NOT NULL");

      await lost.end("SIGKILL");
      await harness.start({ ERRAND_ROLE: "worker" });

      await api.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      const events = await api.api.events(runId);
      expect(events.filter(({ kind }) => kind === "attempt.started")).toHaveLength(2);
      expect(events.filter(({ kind }) => kind === "agent.started")).toHaveLength(1);
      expect(await mark.count()).toBe(1);
      await harness.check();
    }));

  test("if a worker is lost before the end of a turn is stored, the turn is repeated and the log shows it", () =>
    withFaultHarness(async (harness) => {
      const [semaphore, mark] = [harness.semaphore(), harness.mark()];
      const lost = await harness.start();
      const runId = await harness.createRun(lost, `${semaphore.step}\n${mark.step}`);
      await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 1 in%'");
      // While many processes start at once, a worker may lose a run before its agent starts.
      const { attempt } = await harness.waitForRow<{ attempt: number }>(
        "SELECT attempt FROM runs WHERE id = $1",
        runId,
      );
      await harness.whileLocked(runId, async () => {
        await semaphore.open();
        await waitFor(async () => (await mark.count()) === 1, { what: "the agent to do its work" });
        await harness.waitForRow(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'errand'",
        );
        await lost.end("SIGKILL");
      });

      const other = await harness.start();

      await other.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      const events = await other.api.events(runId);
      const attempts = events.filter(({ kind }) => kind === "attempt.started");
      expect(attempts.at(-1)?.attempt).toBe(attempt + 1);
      expect(events.filter(({ kind }) => kind === "turn.started").map(({ again }) => again)).toEqual([
        false,
        true,
      ]);
      expect(events.filter(({ kind }) => kind === "turn.ended")).toHaveLength(1);
      expect(await mark.count()).toBe(2);
      await harness.check();
    }));

  test("if a worker is lost between the end of the run and its message, the message is posted once", () =>
    withFaultHarness(
      async (harness) => {
        const { slack } = harness;
        const semaphore = harness.semaphore();
        const lost = await harness.start();
        const runId = await harness.mention(lost, `${semaphore.step}\nsay the closing words`);
        await waitFor(() => slack.calls("chat.update").some(({ args }) => args.text?.includes("Working")), {
          what: "the card to show that it is worked on",
        });
        // Slack stores the answer, but the worker gets no reply, neither when it posts nor when it looks for the
        // message.
        slack.faults.until({ method: "chat.postMessage", kind: "drop-after-write" });
        slack.faults.until({ method: "conversations.replies", kind: "500" });
        await semaphore.open();
        await waitFor(
          () => slack.calls("chat.postMessage").some(({ outcome }) => outcome === "drop-after-write"),
          {
            what: "the answer to be posted",
          },
        );

        await lost.end("SIGKILL");
        const untold = await harness.rows("SELECT 1 FROM outbox_deliveries WHERE state = 'waiting'");
        slack.faults.clear();
        const other = await harness.start();

        expect(untold.length).toBeGreaterThan(0);
        await other.api.waitForState(runId, "SUCCEEDED");
        await harness.check({ patienceMs: PROMISE_MS });
      },
      { withSlack: true },
    ));

  test("if a worker is lost after an event was acknowledged, the run is still created", () =>
    withFaultHarness(
      async (harness) => {
        const lost = await harness.start({ ERRAND_ROLE: "api" });
        const deliveryId = await harness.sendMention(lost, "say hello");
        await lost.end("SIGKILL");

        const other = await harness.start();

        await other.api.waitForState(await harness.runOf(deliveryId), "SUCCEEDED");
        await harness.check();
      },
      { withSlack: true },
    ));

  test("a worker that wakes up after its run was taken over can write nothing, and its agent is killed", () =>
    withFaultHarness(
      async (harness) => {
        const semaphore = harness.semaphore();
        const zombie = await harness.start();
        const runId = await harness.mention(zombie, `${semaphore.step}\nsay the closing words`);
        await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%wait 1 in%'");
        zombie.signal("SIGSTOP");
        const other = await harness.start();
        const began = await waitFor(
          async () => (await other.api.events(runId)).filter(({ kind }) => kind === "turn.started")[1],
          { what: "the other worker to begin the turn again", timeoutMs: PROMISE_MS, everyMs: 200 },
        );

        zombie.signal("SIGCONT");

        await waitFor(async () => (await ownersOf(runId)).every((path) => path.startsWith(other.dataDir)), {
          what: "the zombie's agent to be gone",
        });
        await semaphore.open();
        await other.api.waitForState(runId, "SUCCEEDED");
        const events = await other.api.events(runId);
        const late = events.filter(({ seq }) => seq > began.seq);
        const closing = late.filter((event) => JSON.stringify(event).includes("the closing words"));
        expect(closing.filter(({ kind }) => kind === "agent.message")).toHaveLength(1);
        expect(events.filter(({ kind }) => kind === "attempt.started")).toHaveLength(2);
        expect((await fetch(`${zombie.url}/readyz`)).status).toBe(200);
        await harness.check();
      },
      { withSlack: true },
    ));
});

test("a live worker keeps its run although its lease expired", LIMIT, () =>
  withFaultHarness(async (harness) => {
    const semaphore = harness.semaphore();
    const worker = await harness.start();
    const runId = await harness.createRun(worker, `${semaphore.step}\nsay finished`);
    await harness.waitForRow(`${LEASED} AND expires_at > clock_timestamp() + interval '6.5 seconds'`, runId);

    // The same situation as when the database returns after an outage. The lease was just renewed, so its next
    // renewal is not soon.
    await harness.rows(RUN_OUT, runId);
    await harness.waitForRow(`${LEASED} AND expires_at > clock_timestamp()`, runId);
    await semaphore.open();

    await worker.api.waitForState(runId, "SUCCEEDED");
    const events = await worker.api.events(runId);
    expect(events.filter(({ kind }) => kind === "attempt.started")).toHaveLength(1);
    await harness.check();
  }),
);

test("a worker that stands still for five seconds keeps its run", LIMIT, () =>
  withFaultHarness(async (harness) => {
    const semaphore = harness.semaphore();
    const api = await harness.start({ ERRAND_ROLE: "api" });
    const workers = await Promise.all(
      FROZEN.map(() => harness.start({ ERRAND_ROLE: "worker", ERRAND_CONCURRENCY: "1" })),
    );
    const runIds = await Promise.all(FROZEN.map(() => harness.createRun(api, semaphore.step)));
    await Promise.all(runIds.map((runId) => harness.waitForRow(LEASED, runId)));

    for (let freeze = 0; freeze < FREEZES; freeze += 1) {
      for (const worker of workers) {
        worker.signal("SIGSTOP");
      }
      // The freeze is what this test is about, so nothing can be waited for instead.
      await delay(FREEZE_MS);
      for (const worker of workers) {
        worker.signal("SIGCONT");
      }
      await Promise.all(runIds.map((runId) => harness.waitForRow(RENEWED, runId)));
    }

    await semaphore.open();
    for (const runId of runIds) {
      await api.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      const events = await api.api.events(runId);
      expect(events.filter(({ kind }) => kind === "attempt.started")).toHaveLength(1);
    }
    await harness.check();
  }),
);

const FROZEN = [1, 2];
const FREEZES = 2;
const FREEZE_MS = 5_000;
const RENEWED = `
  SELECT 1 FROM run_leases WHERE run_id = $1 AND expires_at > clock_timestamp() + interval '6 seconds'`;
const LEASED = "SELECT 1 FROM runs JOIN run_leases ON run_id = id WHERE id = $1 AND state = 'INPROGRESS'";
const RUN_OUT =
  "UPDATE run_leases SET expires_at = clock_timestamp() - interval '1 second' WHERE run_id = $1";

/** A worker that reads the run's files blocks forever at this named pipe, because nothing writes to it. */
async function blockPreparation(dataDir: string, runId: string): Promise<void> {
  const directory = join(dataDir, "runs", runId);
  await mkdir(directory, { recursive: true });
  await run("mkfifo", [join(directory, "checkpoints.json")]);
}

/** The home directories of a run's processes. */
async function ownersOf(runId: string): Promise<readonly string[]> {
  const processes = (await listRunProcesses()).filter((process) => process.runId === runId);
  return processes.map(({ environment }) => /(?:^|\0)HOME=([^\0]*)/.exec(environment)?.[1] ?? "");
}
