import { expect, test } from "vitest";
import type { RunItem } from "../../support/api-client.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const WANTED = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "say hello", enabled: true };

test(
  "a due time fires once, with and without its job, even if processes are killed",
  { timeout: 90_000 },
  () =>
    withFaultHarness(async (harness) => {
      const [one, two] = await Promise.all([harness.start(), harness.start()]);
      const [rung, swept] = [await create(one, {}), await create(one, { name: "Swept" })];
      const missed = "UPDATE schedules SET next_run_at = now() - interval '5 hours'";

      await harness.rows(missed);
      // The edit sends a job for the due time that has passed. The job of the other schedule is due tomorrow.
      await one.api.call("PUT", `/agent/schedules/${rung}`, { ...WANTED, prompt: "say edited" });
      const run = await theRunOf(one, rung);
      await two.end("SIGKILL");
      const late = await theRunOf(one, swept);

      expect(run).toMatchObject({
        prompt: "say edited",
        title: "Nightly",
        source: "SCHEDULED_AGENT",
        schedule: { schedule_id: rung, schedule_name: "Nightly", cron_schedule: "0 3 * * *" },
        trigger_url: expect.stringContaining(`/agent/schedules/${rung}`),
        creator: { display_name: "Administrator" },
      });
      expect(late).toMatchObject({ prompt: "say hello", title: "Swept" });
      const { body } = await one.api.call("GET", `/agent/schedules/${rung}`);
      const { history } = Object(body);
      expect(Date.parse(history.last_ran)).toBeGreaterThan(Date.now() - 60_000);
      expect(Date.parse(history.next_run)).toBeGreaterThan(Date.now());
      const counts = await harness.rows("SELECT count(*)::int FROM runs GROUP BY schedule_id");
      expect(counts).toEqual([{ count: 1 }, { count: 1 }]);
      await harness.check();
    }),
);

async function create({ api }: Worker, more: object): Promise<string> {
  const { body } = await api.call("POST", "/agent/schedules", { ...WANTED, ...more });
  return String(Object(body).id);
}

function theRunOf({ api }: Worker, scheduleId: string): Promise<RunItem> {
  const find = async () => (await api.listRuns(`&schedule_id=${scheduleId}&state=SUCCEEDED`))[0];
  return waitFor(find, { what: `the run of schedule ${scheduleId}`, timeoutMs: 40_000 });
}
