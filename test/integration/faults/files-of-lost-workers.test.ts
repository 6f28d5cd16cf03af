import { expect, test } from "vitest";
import { type FaultHarness, withFaultHarness } from "./fault-harness.ts";

const PROMISE_MS = 60_000;
const OFTEN = { ERRAND_CHECKPOINT_MINUTES: "0.005" };
const STORED_SINCE = `
  SELECT 1 FROM runs WHERE id = $1 AND checkpoint_at > (
    SELECT max(at) FROM run_events WHERE run_id = runs.id AND body::text LIKE '%wait 1 in%' AND seq > (
      SELECT max(seq) FROM run_events WHERE run_id = runs.id AND kind = 'attempt.started'))`;
const ATTEMPTS = "SELECT 1 FROM runs WHERE id = $1 AND attempt = $2";

test(
  "the files of two lost workers are restored, and the older copy of a worker that returns is not used",
  {
    timeout: 180_000,
  },
  () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const [one, two] = [harness.newDataDir(), harness.newDataDir()];
      const first = await harness.start(OFTEN, one);
      const runId = await harness.createRun(
        first,
        [
          "shell echo x >> count.txt",
          changing(semaphore.step),
          'shell echo "counted $(grep -c x count.txt)"',
        ].join("\n"),
      );
      await storedBy(harness, runId, 1);
      await first.end("SIGKILL");
      const second = await harness.start(OFTEN, two);
      await storedBy(harness, runId, 2);
      await second.end("SIGKILL");

      const back = await harness.start(OFTEN, one);
      await harness.waitForRow(ATTEMPTS, runId, 3);
      await semaphore.open();

      const { warnings } = await back.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      const events = await back.api.events(runId);
      expect(JSON.stringify(events)).toContain("counted 3");
      const lost = /The worker was lost during turn 1\. What it changed after \S+ \S+ UTC was not stored\./;
      const ready = events.filter(({ kind }) => kind === "workspace.ready");
      expect(ready.map(({ missing }) => lost.test(String(missing)))).toEqual([false, true, true]);
      expect(String(warnings)).toMatch(lost);
      await harness.check();
    }),
);

/** The step also changes a file all the time, so that there is always something to store. */
function changing(step: string): string {
  return step.replace("sleep 0.1", "echo $n > tick.txt; sleep 0.1");
}

/** Waits until the files of this attempt are stored within its turn. */
async function storedBy(harness: FaultHarness, runId: string, attempt: number): Promise<void> {
  await harness.waitForRow(ATTEMPTS, runId, attempt);
  await harness.waitForRow(STORED_SINCE, runId);
}
