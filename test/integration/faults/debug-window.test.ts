import { access } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunItem } from "../../support/api-client.ts";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { FaultHarness, type Worker } from "./fault-harness.ts";

const MINUTES = 30;
/** A turn that fails while its agent lives, as with a key that the model refuses. */
const FAILING = "fail 401";
const skipped = await reasonToSkipBubblewrap();

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let harness: FaultHarness;
let api: Worker;
let worker: Worker;

beforeAll(async () => {
  database = await createTestDatabase();
  harness = await FaultHarness.open({ databaseUrl: database.url });
  [api, worker] = await Promise.all([harness.start({ ERRAND_ROLE: "api" }), startWorker()]);
}, 120_000);

afterAll(async () => {
  await harness.close();
  await database.drop();
});

afterEach(() => harness.check());

/** With one slot, and with room for one run that waits without a slot. */
function startWorker(): Promise<Worker> {
  return harness.start({
    ERRAND_ROLE: "worker",
    ERRAND_CONCURRENCY: "1",
    ERRAND_WAITING_AGENTS: "1",
    ERRAND_SANDBOX: skipped === undefined ? "bubblewrap" : "local",
  });
}

describe("a failed run of an environment that keeps failed runs", { timeout: 120_000 }, () => {
  test.skipIf(skipped !== undefined)("a follow-up continues in the same process and sandbox", async () => {
    const print = (what: string) => `shell echo ${what}=$PPID; cat /tmp/evidence`;
    const prompt = `shell echo mark > /tmp/evidence\n${print("before")}\n${FAILING}`;
    const failed = await failedRun({ prompt });
    const { run_id: id } = failed;

    await api.api.followUp(id, print("after"));

    expect(failed).toMatchObject({ is_sandbox_running: true });
    expect(failed).not.toHaveProperty("debug_agent_available");
    const { created_at: createdAt, status_message: status } = failed;
    const { session_debug_until: until } = status as { session_debug_until?: string };
    expect(Date.parse(until ?? "") - Date.parse(String(createdAt))).toBeGreaterThan(MINUTES * 60_000);
    const after = await api.api.waitForState(id, "SUCCEEDED");
    expect(after).not.toHaveProperty("status_message.session_debug_until");
    const log = JSON.stringify(await api.api.events(id));
    const [, before] = /before=(\d+)/.exec(log) ?? [];
    expect(before).toBeDefined();
    expect(/after=(\d+)\\nmark/.exec(log)?.[1]).toBe(before);
    expect(await countOf(id, "attempt.started")).toBe(1);
  });

  test("after a failed setup an agent starts in the workspace as it was, and meanwhile no slot is taken", async () => {
    const failed = await failedRun({ prompt: "say hi", setup: ["echo half > made.txt; echo oh no; exit 3"] });
    const { run_id: id } = failed;
    const other = await harness.createRun(api, "say done");
    await api.api.waitForState(other, "SUCCEEDED");

    await api.api.followUp(id, "read made.txt");

    expect(failed).toMatchObject({
      debug_agent_available: true,
      is_sandbox_running: true,
      status_message: {
        error_code: "environment_setup_failed",
        message: "Setup command 1 of 1 failed with exit code 3.\noh no",
        session_debug_until: expect.any(String),
      },
    });
    const run = await api.api.waitForState(id, "SUCCEEDED");
    expect(run).toMatchObject({ result: { text: expect.stringContaining("half") } });
    expect(run).not.toHaveProperty("debug_agent_available");
    expect(run.warnings).toEqual([
      "The run continues in a workspace whose setup failed: Setup command 1 of 1 failed with exit code 3.",
    ]);
    expect(await countOf(id, "attempt.started")).toBe(1);
    await api.api.followUp(id, "read made.txt");
    await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND turn = 2 AND NOT turn_open", id);
    expect(await api.api.waitForState(id, "SUCCEEDED")).toMatchObject({
      result: { text: expect.stringContaining("half") },
    });
  });

  test("when the time is over its workspace is removed, and a follow-up repeats the setup", async () => {
    const { run_id: id } = await failedRun({ setup: ["exit 3"], minutes: 0.03 });

    await untilFree(id);

    const ended = await api.api.getRun(id);
    expect(ended).toMatchObject({ state: "FAILED", is_sandbox_running: false });
    expect(ended).not.toHaveProperty("debug_agent_available");
    await expect(access(join(worker.dataDir, "runs", id))).rejects.toThrow("ENOENT");
    await api.api.followUp(id, "again");
    await harness.waitForRow(
      "SELECT FROM run_events WHERE run_id = $1 AND kind = 'attempt.started' AND body ->> 'attempt' = '2'",
      id,
    );
    await untilFree(id);
    expect(await countOf(id, "agent.started")).toBe(0);
  });

  test("a cancel ends its processes, and then it can be deleted", async () => {
    const { run_id: id } = await failedRun({});
    const early = await api.api.call("DELETE", `/agent/runs/${id}`);

    const cancelled = await api.api.cancel(id);

    expect(early).toMatchObject({ status: 409, body: { remedy: expect.stringContaining("Cancel it") } });
    expect(cancelled).toMatchObject({ status: 200, body: id });
    await untilFree(id);
    expect(await api.api.getRun(id)).toMatchObject({ state: "FAILED", is_sandbox_running: false });
    expect(await processesOf(worker)).toEqual([]);
    expect((await api.api.cancel(id)).status).toBe(400);
  });

  test("with too many of them, the one that has waited longest ends", async () => {
    const { run_id: first } = await failedRun({});
    const { run_id: second } = await failedRun({});

    await untilFree(first);

    expect(await api.api.getRun(second)).toMatchObject({ state: "FAILED", is_sandbox_running: true });
    await api.api.cancel(second);
    await untilFree(second);
  });

  test.each(["SIGKILL", "SIGTERM"] as const)(
    "after %s of its worker another one continues with what is stored",
    async (signal) => {
      const { run_id: id } = await failedRun({ prompt: `write kept.txt evidence\n${FAILING}` });

      await worker.end(signal);
      await untilFree(id);

      const ended = await api.api.getRun(id);
      expect(ended).toMatchObject({ state: "FAILED", is_sandbox_running: false });
      expect(ended).not.toHaveProperty("status_message.session_debug_until");
      worker = await startWorker();
      await api.api.followUp(id, "read kept.txt");
      expect(await api.api.waitForState(id, "SUCCEEDED")).toMatchObject({
        result: { text: expect.stringContaining("evidence") },
      });
      expect(await countOf(id, "attempt.started")).toBe(2);
    },
  );
});

interface Failing {
  readonly prompt?: string;
  readonly setup?: readonly string[];
  readonly minutes?: number;
}

/** A run that has failed and is kept. */
async function failedRun({ minutes = MINUTES, prompt = FAILING, setup = [] }: Failing): Promise<RunItem> {
  const config = { name: crypto.randomUUID(), setup_commands: setup };
  const body = { config: { ...config, failure_session_retention_minutes: MINUTES } };
  const made = await api.api.call("POST", "/agent/environments", body);
  const { uid } = made.body as { uid: string };
  if (minutes !== MINUTES) {
    const sql = "UPDATE environments SET config = jsonb_set(config, '{debugMinutes}', to_jsonb($2::float8))";
    await harness.rows(`${sql} WHERE id = $1`, uid, minutes);
  }
  const id = await api.api.createRun(prompt, { config: { environment_id: uid } });
  harness.acknowledge(id);
  return api.api.waitForState(id, "FAILED");
}

async function untilFree(id: string): Promise<void> {
  const sql = "SELECT 1 FROM runs WHERE id = $1 AND state = 'FAILED'";
  await harness.waitForRow(`${sql} AND lease_token IS NULL AND debug_until IS NULL`, id);
}

async function processesOf({ dataDir }: Worker): Promise<readonly number[]> {
  const all = await listRunProcesses();
  return all.filter(({ environment }) => environment.includes(dataDir)).map(({ pid }) => pid);
}

async function countOf(id: string, kind: string): Promise<number> {
  return (await api.api.events(id)).filter((event) => event.kind === kind).length;
}
