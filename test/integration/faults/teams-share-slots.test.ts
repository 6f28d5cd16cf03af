import { expect, test } from "vitest";
import { createApiClient } from "../../support/api-client.ts";
import { type Worker, withFaultHarness } from "./fault-harness.ts";

const LIMIT = { timeout: 150_000 };

test(
  "over two workers, a team keeps its quota, another team comes next, and each end makes room",
  LIMIT,
  () =>
    withFaultHarness(async (harness) => {
      const api = await harness.start({ ERRAND_ROLE: "api" });
      const [a, b] = [await aTeam(api, "A", 3), await aTeam(api, "B")];
      const semaphore = harness.semaphore();
      const create = async (team: Team, count: number) => {
        const ids: string[] = [];
        for (let index = 0; index < count; index += 1) {
          const runId = await team.api.createRun(semaphore.step);
          harness.acknowledge(runId);
          ids.push(runId);
        }
        return ids;
      };
      const ofA = await create(a, 12);
      await harness.start({ ERRAND_ROLE: "worker", ERRAND_CONCURRENCY: "2" });
      await harness.start({ ERRAND_ROLE: "worker", ERRAND_CONCURRENCY: "2" });
      await harness.waitForRow(`${RUNNING} HAVING count(*) = 3`, a.id);
      const waiting = (await a.api.getRun(ofA.at(-1) ?? "")) as { readonly waiting_for?: unknown };

      const [first = ""] = await create(b, 3);
      await b.api.waitForState(first, "INPROGRESS");
      await semaphore.open();

      expect(waiting.waiting_for).toMatchObject({ reason: "quota" });
      for (const runId of ofA) {
        await a.api.waitForState(runId, "SUCCEEDED", 60_000);
      }
      const [most] = await harness.rows<{ most: number }>(MOST_AT_ONCE, a.id);
      expect(most?.most).toBe(3);
      await harness.check();
    }),
);

interface Team {
  readonly id: string;
  readonly api: Worker["api"];
}

async function aTeam(at: Worker, name: string, running?: number): Promise<Team> {
  const post = async (path: string, body: unknown, method = "POST") =>
    (await at.api.call(method, path, body)).body as Record<string, string>;
  const { uid = "" } = await post("/agent/teams", { name });
  const about = { type: "service_account", display_name: name, team_uid: uid };
  const { uid: principal } = await post("/agent/principals", about);
  const { key = "" } = await post("/agent/keys", { scopes: ["runs:write"], principal_uid: principal, name });
  if (running !== undefined) {
    const quotas = [{ name: "running_runs", limit: running }];
    await post(`/agent/teams/${uid}/quotas`, { quotas }, "PUT");
  }
  return { id: uid, api: createApiClient({ url: at.url, apiKey: key }) };
}

const RUNNING = "SELECT count(*) FROM runs WHERE team_id = $1 AND lease_token IS NOT NULL";
/** The largest number of attempts of the team that overlapped, by the log. */
const MOST_AT_ONCE = `
  WITH changes AS (
    SELECT position, run_events.at, seq, CASE kind WHEN 'attempt.started' THEN 1 ELSE -1 END AS step
    FROM run_events JOIN runs ON runs.id = run_id
    WHERE team_id = $1 AND kind IN ('attempt.started', 'attempt.ended'))
  SELECT max(total)::int AS most FROM (SELECT sum(step) OVER (ORDER BY position, seq) AS total FROM changes) AS totals`;
