import { randomUUID } from "node:crypto";
import type { Figure } from "../bench.ts";
import { type Row, round } from "../report.ts";
import { fillRuns } from "../setup/fill-runs.ts";
import { headersOf, OLD_TEAM } from "../setup/people.ts";
import { query } from "../setup/postgres.ts";
import { startService } from "../setup/service.ts";
import { quantile, spreadOf } from "../statistics.ts";

const ROWS = 10_000;
const ASKED = 500;
/** Ids cannot be guessed, so that it need not be nothing. */
const DIFFERS = 0.1;
const ANOTHERS = "SELECT id FROM runs WHERE team_id = $1 ORDER BY md5(id::text) LIMIT $2";

/**
 * P18: whether the time of a 404 reveals that the run exists. Runs of another team and runs that do not exist are requested
 * alternately, and the medians are compared.
 */
export const equalRefusals: Figure = {
  names: ["P18"],
  measure: async ({ folder, options, postgres, tell, undo }) => {
    const databaseUrl = await postgres.database("equal_refusals");
    const { child, url } = await startService(folder, databaseUrl);
    undo.defer(() => child.stop());
    await fillRuns(databaseUrl, ROWS);
    tell("P18: time of refusals");
    const found = await query<{ id: string }>(databaseUrl, ANOTHERS, [OLD_TEAM, ASKED]);
    const headers = headersOf("member", 1);
    const medians: Record<"anothers" | "absent", number[]> = { anothers: [], absent: [] };
    // The first round warms up.
    for (let index = 0; index <= options.rounds; index += 1) {
      const taken: Record<keyof typeof medians, number[]> = { anothers: [], absent: [] };
      for (const { id } of found) {
        taken.anothers.push(await refusalMs(url, id, headers));
        taken.absent.push(await refusalMs(url, randomUUID(), headers));
      }
      if (index === 0) continue;
      for (const name of ["anothers", "absent"] as const)
        medians[name].push(
          quantile(
            taken[name].toSorted((a, b) => a - b),
            0.5,
          ),
        );
    }
    return [rowOf(medians)];
  },
};

function rowOf({ absent, anothers }: Readonly<Record<"anothers" | "absent", readonly number[]>>): Row {
  const { max, median, min } = spreadOf(
    anothers.map((value, index) => value / (absent[index] ?? Number.NaN)),
  );
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
  if (answer.status !== 404) throw new Error(`A run that is not to be seen was answered ${answer.status}.`);
  return performance.now() - begunMs;
}
