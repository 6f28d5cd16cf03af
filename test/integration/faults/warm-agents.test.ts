import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const skipped = await reasonToSkipBubblewrap();
const WARM = { ERRAND_SANDBOX: "bubblewrap", ERRAND_WARM_AGENTS: "1" };

/** The processes in sandboxes that show a folder of agents without a run. The kernel names the folder of each mount. */
async function listWaiting({ dataDir }: Worker): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const mounts = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "")),
  );
  return pids.filter((_, index) => mounts[index]?.includes(`${join(dataDir, "warm")}/`));
}

const noneIsLeft = (worker: Worker) =>
  waitFor(async () => (await listWaiting(worker)).length === 0, { what: "no agent to wait" });

/** Its process alone is not enough, because a run takes an agent only once it is initialized. */
async function nthIsReady(count: number, worker: Worker): Promise<void> {
  const ready = () => worker.output().split("agent.warm.ready").length - 1;
  await waitFor(() => ready() === count, { what: `agent ${count} to wait` });
  expect(await listWaiting(worker)).not.toEqual([]);
}

async function startedBy(worker: Worker, runId: string): Promise<unknown> {
  await worker.api.waitForState(runId, "SUCCEEDED");
  return (await worker.api.events(runId)).find(({ kind }) => kind === "agent.started");
}

test.skipIf(skipped !== undefined)(
  `a run takes the agent that waits, one with secrets does not, and a killed worker leaves none${skipped === undefined ? "" : ` (${skipped})`}`,
  () =>
    withFaultHarness(async (harness) => {
      const worker = await harness.start(WARM);
      await nthIsReady(1, worker);

      const first = await harness.createRun(worker, "write made.txt words");
      expect(await startedBy(worker, first)).toMatchObject({ warm: true });
      await worker.api.followUp(first, "read made.txt");
      await waitFor(async () => JSON.stringify(await worker.api.events(first)).includes("has 6 characters"), {
        what: "the follow-up to find the file",
      });
      await worker.api.call("PUT", "/agent/secrets/NPM_TOKEN", { value: "a-token-of-the-team" });
      await nthIsReady(2, worker);
      const second = await harness.createRun(worker, "say hello");
      expect(await startedBy(worker, second)).not.toHaveProperty("warm");
      await harness.check();

      expect(await listWaiting(worker)).not.toEqual([]);
      await worker.end("SIGKILL");
      await noneIsLeft(worker);
      const next = await harness.start(WARM, worker.dataDir);
      await nthIsReady(1, next);
      expect(await readdir(join(next.dataDir, "warm"))).toHaveLength(1);
      await next.end("SIGTERM");
      await noneIsLeft(next);
      expect(await readdir(join(next.dataDir, "warm"))).toEqual([]);
    }),
);
