import { randomUUID } from "node:crypto";
import type { Figure } from "../bench.ts";
import { type Row, round } from "../report.ts";
import { fillRuns } from "../setup/fill-runs.ts";
import { headersOf, OLD_TEAM } from "../setup/people.ts";
import { query } from "../setup/postgres.ts";
import { startService } from "../setup/service.ts";
import { quantile, ratioOf, spreadOf } from "../statistics.ts";

const ROWS = 10_000;
const ASKED = 500;
/** The relative difference that is tolerated. It need not be zero, because ids cannot be guessed. */
const DIFFERS = 0.1;
const ANOTHERS = "SELECT id FROM runs WHERE team_id = $1 ORDER BY md5(id::text) LIMIT $2";

/**
 * P18: whether the time of a 404 reveals that the run exists. Runs of another team and runs that do not exist are
 * requested alternately, and the medians are compared.
 */
export const equalRefusals: Figure = {
  names: ["P18"],
  measure: async ({ folder, options, postgres, log, cleanup }) => {
    const databaseUrl = await postgres.database("equal_refusals");
    const { child, url } = await startService(folder, databaseUrl);
    cleanup.defer(() => child.stop());
    await fillRuns(databaseUrl, ROWS);
    log("P18: time of refusals");
    const runs = await query<{ id: string }>(databaseUrl, ANOTHERS, [OLD_TEAM, ASKED]);
    const headers = headersOf("member", 1);
    const medians: Record<"anothers" | "absent", number[]> = { anothers: [], absent: [] };
    // The first round warms up.
    for (let index = 0; index <= options.rounds; index += 1) {
      const timesMs: Record<keyof typeof medians, number[]> = { anothers: [], absent: [] };
      for (const { id } of runs) {
        timesMs.anothers.push(await refusalMs(url, id, headers));
        timesMs.absent.push(await refusalMs(url, randomUUID(), headers));
      }
      if (index === 0) {
        continue;
      }
      for (const name of ["anothers", "absent"] as const) {
        medians[name].push(
          quantile(
            timesMs[name].toSorted((a, b) => a - b),
            0.5,
          ),
        );
      }
    }
    return [rowOf(medians)];
  },
};

function rowOf({ absent, anothers }: Readonly<Record<"anothers" | "absent", readonly number[]>>): Row {
  const { max, median, min } = ratioOf(anothers, absent);
  return {
    figure: "P18",
    what: "another team's run and none",
    ours: `${round(spreadOf(anothers).median)} ms`,
    floor: `${round(spreadOf(absent).median)} ms`,
    ratio: `${round(median)} (${round(min)}–${round(max)})`,
    goal: `1 ± ${DIFFERS}`,
    verdict: Math.abs(median - 1) <= DIFFERS ? "reached" : "MISSED",
  };
}

async function refusalMs(
  url: string,
  id: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const begunMs = performance.now();
  const answer = await fetch(`${url}/api/v1/agent/runs/${id}`, { headers });
  await answer.arrayBuffer();
  if (answer.status !== 404) {
    throw new Error(`A run that is not to be seen was answered ${answer.status}.`);
  }
  return performance.now() - begunMs;
}
