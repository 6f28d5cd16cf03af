import { setTimeout as pause } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const RUNS = 60;
const KILLS = 8;
/** The kill comes at a random moment within this time, so that it hits a busy worker. */
const KILL_WITHIN_MS = 2_500;
const PATIENCE_MS = 180_000;

test(
  "with two workers killed at random moments, every run ends exactly once",
  {
    timeout: 300_000,
  },
  () =>
    withFaultHarness(async (harness) => {
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const workers: Worker[] = await Promise.all([
        harness.start({ ERRAND_ROLE: "worker" }),
        harness.start({ ERRAND_ROLE: "worker" }),
      ]);
      const runIds = await Promise.all(
        Array.from({ length: RUNS }, (_, index) =>
          harness.createRun(api, `sleep 0.2\nsay run ${index} is done`),
        ),
      );

      for (let kills = 0; kills < KILLS; kills += 1) {
        await pause(Math.random() * KILL_WITHIN_MS);
        const [victim] = workers.splice(kills % 2, 1);
        await victim?.end("SIGKILL");
        workers.push(await harness.start({ ERRAND_ROLE: "worker" }, victim?.dataDir));
      }

      const ended = "SELECT count(*)::int AS count FROM runs WHERE state IN ('SUCCEEDED', 'FAILED', 'ERROR')";
      await waitFor(async () => (await harness.rows<{ count: number }>(ended))[0]?.count === RUNS, {
        what: "all runs to end",
        timeoutMs: PATIENCE_MS,
      });
      const terminal = await harness.rows<{ times: number; to: string }>(`
      SELECT count(*)::int AS times, min(body ->> 'to') AS "to" FROM run_events
       WHERE kind = 'run.state' AND body ->> 'to' IN ('SUCCEEDED', 'FAILED', 'ERROR') GROUP BY run_id`);
      expect(terminal).toHaveLength(runIds.length);
      expect(terminal.filter(({ times }) => times !== 1)).toEqual([]);
      // A run fails only if its worker was killed during its attempt three times.
      expect(terminal.filter(({ to }) => to === "FAILED")).toEqual([]);
      await harness.check();
    }),
);

test("a job of a kind that only a newer version knows is left alone", { timeout: 120_000 }, () =>
  withFaultHarness(async (harness) => {
    const worker = await harness.start();
    const boss = new PgBoss(harness.databaseUrl);
    boss.on("error", () => undefined);
    await boss.start();
    await boss.createQueue("of-the-next-version");
    await boss.send("of-the-next-version", { key: "x" }, { retryLimit: 0 });
    await boss.stop({ graceful: false });

    const runId = await harness.createRun(worker, "say hello");

    await worker.api.waitForState(runId, "SUCCEEDED");
    const jobs = await harness.rows<{ state: string }>(
      "SELECT state::text FROM pgboss.job WHERE name = 'of-the-next-version'",
    );
    expect(jobs).toEqual([{ state: "created" }]);
    await harness.check();
  }),
);
