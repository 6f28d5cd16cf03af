import { expect, test } from "vitest";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { withFaultHarness } from "./fault-harness.ts";

/** The time that an orchestrator gives a process before it kills it. */
const STOP_LIMIT_MS = 15_000;

test(
  "a worker that is asked to stop hands its runs back, and the next worker ends them",
  { timeout: 90_000 },
  () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const stopped = await harness.start();
      const patient = await Promise.all(
        [1, 2].map((index) => harness.createRun(stopped, `${semaphore.step}\nsay ${index}`)),
      );
      const deaf = await harness.createRun(stopped, "hang");
      const runIds = [...patient, deaf];
      for (const runId of runIds) {
        await stopped.api.waitForState(runId, "INPROGRESS");
      }
      const begun = performance.now();

      const exitCode = await stopped.end("SIGTERM");

      expect(exitCode).toBe(0);
      expect(stopped.output()).toContain('"signal":"SIGTERM"');
      expect(performance.now() - begun).toBeLessThan(STOP_LIMIT_MS);
      const states = await harness.rows("SELECT state, lease_token FROM runs");
      expect(states).toEqual(runIds.map(() => ({ state: "QUEUED", lease_token: null })));
      expect((await listRunProcesses()).filter(({ runId }) => runIds.includes(runId))).toEqual([]);
      await harness.check();
      await semaphore.open();
      const next = await harness.start();
      for (const runId of patient) {
        await next.api.waitForState(runId, "SUCCEEDED");
      }
      await next.api.waitForState(deaf, "INPROGRESS");
      await next.api.cancel(deaf);
      const ended = await harness.rows("SELECT 1 FROM run_events WHERE body->>'to' IN ('FAILED', 'ERROR')");
      expect(ended).toEqual([]);
      await harness.check();
    }),
);
