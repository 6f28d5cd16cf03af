import { expect, test } from "vitest";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { atDesk } from "./fault-desk.ts";

/** What an orchestrator gives a process before it kills it. */
const STOP_LIMIT_MS = 10_000;

test(
  "a worker that is told to stop gives its runs back, and the next one ends them (6)",
  { timeout: 90_000 },
  () =>
    atDesk(async (desk) => {
      const gate = desk.gate();
      const stopped = await desk.start();
      const patient = await Promise.all(
        [1, 2].map((index) => desk.createRun(stopped, `${gate.step}\nsay ${index}`)),
      );
      const deaf = await desk.createRun(stopped, "hang");
      const runIds = [...patient, deaf];
      for (const runId of runIds) await stopped.api.waitForState(runId, "INPROGRESS");
      const begun = performance.now();

      const exitCode = await stopped.end("SIGTERM");

      expect(exitCode).toBe(0);
      expect(stopped.output()).toContain('"signal":"SIGTERM"');
      expect(performance.now() - begun).toBeLessThan(STOP_LIMIT_MS);
      const states = await desk.rows("SELECT state, lease_token FROM runs");
      expect(states).toEqual(runIds.map(() => ({ state: "QUEUED", lease_token: null })));
      expect((await listRunProcesses()).filter(({ runId }) => runIds.includes(runId))).toEqual([]);
      await desk.check();
      await gate.open();
      const next = await desk.start();
      for (const runId of patient) await next.api.waitForState(runId, "SUCCEEDED");
      await next.api.waitForState(deaf, "INPROGRESS");
      await next.api.cancel(deaf);
      const ended = await desk.rows("SELECT 1 FROM run_events WHERE body->>'to' IN ('FAILED', 'ERROR')");
      expect(ended).toEqual([]);
      await desk.check();
    }),
);
