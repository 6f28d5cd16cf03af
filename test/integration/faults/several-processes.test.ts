import { describe, expect, test } from "vitest";
import type { ApiClient, LoggedEvent } from "../../support/api-client.ts";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { waitFor } from "../../support/wait-for.ts";
import { withFaultHarness } from "./fault-harness.ts";

/** The longest time that processes of a cancelled run may live on (docs/api.md). */
const GONE_MS = 10_000;
const LIMIT = { timeout: 90_000 };

test(
  "five processes that start concurrently on an empty database migrate it once, and all of them work",
  LIMIT,
  () =>
    withFaultHarness(
      async (harness) => {
        const roles = ["all", "all", "api", "api", "worker"];

        const processes = await Promise.all(roles.map((role) => harness.start({ ERRAND_ROLE: role })));

        const [first, second, third] = processes;
        if (first === undefined || second === undefined || third === undefined) {
          throw new Error("Not started");
        }
        const runIds = await Promise.all(
          [first, second, third].map((at) => harness.createRun(at, "say hello")),
        );
        for (const runId of runIds) {
          await first.api.waitForState(runId, "SUCCEEDED");
        }
        const applied = "SELECT migration_name FROM _prisma_migrations GROUP BY 1 HAVING count(*) > 1";
        expect(await harness.rows(applied)).toEqual([]);
        expect(await harness.rows("SELECT 1 FROM api_keys")).toHaveLength(1);
        await harness.check();
      },
      { isEmpty: true },
    ),
);

describe.concurrent("several processes on one database", LIMIT, () => {
  test("a follow-up continues with the same files and conversation on another worker and on the first one again", () =>
    withFaultHarness(async (harness) => {
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const [here, there] = [harness.newDataDir(), harness.newDataDir()];
      const worker = { ERRAND_ROLE: "worker" };
      const one = await harness.start(worker, here);
      const runId = await harness.createRun(api, "write note.txt first");
      await api.api.waitForState(runId, "SUCCEEDED");
      await one.end("SIGTERM");

      const two = await harness.start(worker, there);
      await api.api.followUp(runId, "read note.txt\nwrite note.txt second\nlook around");
      await waitForTurns(api.api, runId, 2);
      await two.end("SIGTERM");
      await harness.start(worker, here);
      await api.api.followUp(runId, "read note.txt\nlook around");
      await waitForTurns(api.api, runId, 3);

      const output = outputOf(await api.api.events(runId));
      expect(output).toContain("note.txt has 6 characters: first");
      expect(output).toContain("note.txt has 7 characters: second");
      expect(output).toMatch(/turn 2[\s\S]*turn 3/);
      await harness.check();
    }));

  test("a cancel from another process takes effect at once and ends every process, and a follow-up waits for that", () =>
    withFaultHarness(async (harness) => {
      const other = await harness.start({ ERRAND_ROLE: "api" });
      await harness.start({ ERRAND_ROLE: "worker" });
      const stubborn = "shell setsid sh -c 'trap \"\" TERM INT HUP; sleep 300' > /dev/null 2>&1 &";
      const runId = await harness.createRun(other, `${stubborn}\nhang`);
      await harness.waitForRow("SELECT 1 FROM run_events WHERE body::text LIKE '%exit code 0%'");

      const answer = await other.api.cancel(runId);
      const cancelled = await other.api.getRun(runId);
      await other.api.followUp(runId, "say I am back");
      const held = await other.api.getRun(runId);

      expect(answer).toMatchObject({ status: 200, body: runId });
      expect(cancelled).toMatchObject({ state: "CANCELLED", is_sandbox_running: true });
      expect(held).toMatchObject({ state: "QUEUED", is_sandbox_running: true });
      const ofFirstAttempt = (await listRunProcesses()).filter((process) => process.runId === runId);
      expect(ofFirstAttempt.length).toBeGreaterThan(1);
      await waitFor(
        async () => !(await listRunProcesses()).some(({ pid }) => ofFirstAttempt.some((p) => p.pid === pid)),
        {
          what: "the processes to be gone",
          timeoutMs: GONE_MS,
        },
      );
      await other.api.waitForState(runId, "SUCCEEDED");
      const kinds = (await other.api.events(runId))
        .map(({ kind }) => kind)
        .filter((kind) => kind.startsWith("attempt."));
      expect(kinds.slice(0, 3)).toEqual(["attempt.started", "attempt.ended", "attempt.started"]);
      await harness.check();
    }));

  test("a follow-up to a run with a long attempt behind it starts at once", () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const worker = await harness.start();
      const runId = await harness.createRun(worker, semaphore.step);
      await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND state = 'INPROGRESS'", runId);
      const other = await harness.start();
      await semaphore.open();
      await worker.api.waitForState(runId, "SUCCEEDED");
      await worker.end("SIGTERM");

      await other.api.followUp(runId, "say again");

      await waitForTurns(other.api, runId, 2);
      await harness.check();
    }));
});

async function waitForTurns(api: ApiClient, runId: string, turns: number): Promise<void> {
  await waitFor(
    async () => (await api.events(runId)).filter(({ kind }) => kind === "turn.ended").length === turns,
    {
      what: `turn ${turns} to end`,
      timeoutMs: 60_000,
      everyMs: 100,
    },
  );
  await api.waitForState(runId, "SUCCEEDED");
}

function outputOf(events: readonly LoggedEvent[]): string {
  return events.map((event) => JSON.stringify(event)).join("\n");
}
