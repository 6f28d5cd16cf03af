import { describe, expect, test } from "vitest";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

const SLOTS = 4;
const LIMIT = { timeout: 120_000 };
/** Prints the process that runs the agent, before and after its question. */
const ASKING = "shell echo before=$PPID\nask\nshell echo after=$PPID";

describe.concurrent("runs that wait for an answer", LIMIT, () => {
  test("they leave all slots of a default worker to others, and each answer continues its process", () =>
    withFaultHarness(async (harness) => {
      const worker = await harness.start();
      const asking = await askAll(harness, worker, SLOTS);
      const semaphore = harness.semaphore();
      const busy: string[] = [];
      for (let index = 0; index < SLOTS; index += 1) {
        busy.push(await harness.createRun(worker, semaphore.step));
      }
      for (const runId of busy) {
        await worker.api.waitForState(runId, "INPROGRESS");
      }
      const queued = await harness.createRun(worker, "say last");

      for (const runId of asking) {
        await answer(worker, runId);
      }
      const states = await Promise.all(asking.map(async (id) => (await worker.api.getRun(id)).state));
      await semaphore.open();

      expect(states).toEqual(Array(SLOTS).fill("INPROGRESS"));
      for (const runId of [...asking, ...busy, queued]) {
        await worker.api.waitForState(runId, "SUCCEEDED");
      }
      for (const runId of asking) {
        const log = JSON.stringify(await worker.api.events(runId));
        const [, before] = /before=(\d+)/.exec(log) ?? [];
        expect(/after=(\d+)/.exec(log)?.[1]).toBe(before);
        expect(await startsOf(worker, runId)).toBe(1);
      }
      const [last] = await harness.rows<{ isLast: boolean }>(
        `SELECT (SELECT min(at) FROM run_events WHERE kind = 'attempt.started' AND run_id = $1)
             >= (SELECT max(at) FROM run_events WHERE kind = 'permission.answered') AS "isLast"`,
        queued,
      );
      expect(last?.isLast).toBe(true);
      await harness.check();
    }));

  test("with no room for waiting agents, each is stopped at once, and the answer resumes its session", () =>
    withFaultHarness(async (harness) => {
      const worker = await harness.start({ ERRAND_WAITING_AGENTS: "0" });
      const [runId = ""] = await askAll(harness, worker, 1);
      await harness.waitForRow("SELECT 1 FROM runs WHERE state = 'BLOCKED' AND lease_token IS NULL");

      await answer(worker, runId);

      await worker.api.waitForState(runId, ["SUCCEEDED", "BLOCKED"]);
      expect(await startsOf(worker, runId)).toBe(2);
      const resumed = (await worker.api.events(runId)).filter(({ kind }) => kind === "agent.started");
      expect(resumed.map(({ resumed: isResumed }) => isResumed)).toEqual([false, true]);
      await harness.check();
    }));

  test("if their worker is killed, their questions stay, and answers are given to the next worker", () =>
    withFaultHarness(async (harness) => {
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const worker = await harness.start({ ERRAND_ROLE: "worker" });
      const [open = "", answered = ""] = await askAll(harness, api, 2);

      await worker.end("SIGKILL");
      await answer(api, answered);
      await harness.start({ ERRAND_ROLE: "worker" }, worker.dataDir);

      await harness.waitForRow(
        "SELECT 1 FROM run_events WHERE run_id = $1 AND kind = 'attempt.started' AND body ->> 'attempt' = '2'",
        answered,
      );
      await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND lease_token IS NULL", open);
      expect(await api.api.getRun(open)).toMatchObject({
        state: "BLOCKED",
        waiting_for: { reason: "question" },
      });
      await api.api.cancel(open);
      await api.api.waitForState(open, "CANCELLED");
      await api.api.waitForState(answered, ["SUCCEEDED", "BLOCKED"]);
      await harness.check();
    }));
});

async function askAll(harness: FaultHarness, at: Worker, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const runId = await at.api.createRun(ASKING, { interactive: true });
    harness.acknowledge(runId);
    ids.push(runId);
  }
  for (const runId of ids) {
    await at.api.waitForState(runId, "BLOCKED");
  }
  return ids;
}

async function answer(at: Worker, runId: string): Promise<void> {
  const { permission } = await at.api.getRun(runId);
  const { permission_id: id, options } = permission as {
    permission_id: string;
    options: readonly { option_id: string; kind: string }[];
  };
  const allow = options.find(({ kind }) => kind === "allow_once");
  const body = { option_id: allow?.option_id };
  expect((await at.api.call("POST", `/agent/runs/${runId}/permissions/${id}`, body)).status).toBe(200);
}

async function startsOf(at: Worker, runId: string): Promise<number> {
  return (await at.api.events(runId)).filter(({ kind }) => kind === "agent.started").length;
}
