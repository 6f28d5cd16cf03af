import type { Bench, Figure } from "../bench.ts";
import { fillRuns } from "../ground/fill-runs.ts";
import { headersOf, OLD_TEAM, TEAM } from "../ground/people.ts";
import { faultsOf, withPlans } from "../ground/plans.ts";
import { query } from "../ground/postgres.ts";
import { type Service, startService } from "../ground/service.ts";
import { type Row, round } from "../report.ts";
import { spreadOf } from "../statistics.ts";
import { type KnownIds, type ListCase, listCases } from "./list-cases.ts";
import { middleCursor } from "./middle-cursor.ts";

const SMALLER_BY = 100;
const PAGE = 50;
const ANSWERS = 150;
const WARM_UP_SECONDS = 0.05;
const LIMIT_SECONDS = 30;
const FLAT = 1.5;

/** A table of runs, and a service on it. */
interface Table {
  readonly url: string;
  readonly service: Service;
  readonly questions: readonly Question[];
}

type Question = { readonly name: string; readonly path: string; readonly headers: Service["headers"] };

/** P5: what a page of 50 takes when there are a hundred times as many runs, for every way of asking. */
export const listAtScale: Figure = {
  names: ["P5"],
  measure: async (bench) => {
    const { rows } = bench.options;
    const small = await prepare(bench, "list_small", rows / SMALLER_BY);
    const large = await prepare(bench, "list_large", rows);
    bench.tell(`P5: lists of ${PAGE} out of ${rows / SMALLER_BY} and of ${rows}`);
    const told: Row[] = [];
    for (const [index, question] of large.questions.entries()) {
      const smaller = small.questions[index];
      if (smaller === undefined) continue;
      const row = rowOf(
        question.name,
        await measure(bench, small.service, smaller, large.service, question),
        rows,
      );
      bench.tell(`  ${row.what}: ${row.floor} -> ${row.ours}`);
      told.push(row);
    }
    await tellPlans(bench, large);
    return told;
  },
};

interface Pair {
  readonly small: number[];
  readonly large: number[];
}

async function measure(
  { load, options }: Bench,
  smallService: Service,
  smallQuestion: Question,
  largeService: Service,
  largeQuestion: Question,
): Promise<Pair> {
  const p99Of = async ({ url }: Service, { path, headers }: Question) => {
    const requests = [{ method: "GET", path, headers } as const];
    const limits = { warmUpSeconds: WARM_UP_SECONDS, seconds: LIMIT_SECONDS, answers: ANSWERS };
    return (await load.perform({ url, requests, connections: 1, ...limits })).p99Ms;
  };
  const pair: Pair = { small: [], large: [] };
  for (let index = 0; index < options.rounds; index += 1) {
    pair.small.push(await p99Of(smallService, smallQuestion));
    pair.large.push(await p99Of(largeService, largeQuestion));
  }
  return pair;
}

function rowOf(what: string, { small, large }: Pair, rows: number): Row {
  const ratio = spreadOf(large.map((value, index) => value / (small[index] ?? Number.NaN)));
  return {
    figure: "P5",
    what: `list p99, ${rows} runs: ${what}`,
    ours: `${round(spreadOf(large).median)} ms`,
    floor: `${round(spreadOf(small).median)} ms`,
    ratio: `${round(ratio.median)} (${round(ratio.min)}–${round(ratio.max)})`,
    goal: `≤ ${FLAT}`,
    verdict: ratio.median <= FLAT ? "reached" : "MISSED",
  };
}

async function prepare({ folder, postgres, tell, undo }: Bench, name: string, rows: number): Promise<Table> {
  const url = await postgres.database(name);
  const service = await startService(folder, url);
  undo.defer(() => service.child.stop());
  tell(`filling ${rows} runs`);
  await fillRuns(url, rows);
  return { url, service, questions: await questionsOf(url, service) };
}

async function questionsOf(url: string, { headers }: Service): Promise<readonly Question[]> {
  const ask = (name: string, parameters: string, of = headers): Question => ({
    name,
    path: `/api/v1/agent/runs?limit=${PAGE}${parameters === "" ? "" : `&${parameters}`}`,
    headers: of,
  });
  const questions = await Promise.all(
    listCases(await knownIds(url)).map(async (each: ListCase) => [
      ask(`${each.name}, first page`, each.finds),
      ask(`${each.name}, deep page`, `${each.finds}&cursor=${await middleCursor(url, each.finds)}`),
      ...(each.findsNothing === undefined ? [] : [ask(`${each.name}, no match`, each.findsNothing)]),
    ]),
  );
  return [
    ...questions.flat(),
    ask("no filter, by created_at", "sort_by=created_at"),
    ask("no filter, by title", "sort_by=title"),
    ask("no filter, by agent", "sort_by=agent"),
    ask("a member's, first page", "", headersOf("member", 3)),
    ask("of a team that has stopped", "", headersOf("old", 3)),
    ask("of a team that has stopped, state", "state=ERROR", headersOf("old", 3)),
  ];
}

async function knownIds(url: string): Promise<KnownIds> {
  const [ids] = await query<KnownIds>(
    url,
    `SELECT md5('member7')::uuid AS creator, md5('schedule7')::uuid AS schedule, ancestor_ids[1] AS parent
     FROM runs WHERE team_id = $1 AND team_id <> $2 AND ancestor_ids <> '{}' LIMIT 1`,
    [TEAM, OLD_TEAM],
  );
  if (ids === undefined) throw new Error("The table has no run with a parent.");
  return ids;
}

/** Which questions the database answers without an index, or with one that does not help. */
async function tellPlans(
  { postgres, remark, tell }: Bench,
  { questions, service, url }: Table,
): Promise<void> {
  tell("P5: plans");
  let isWellPlanned = true;
  await withPlans(url, async () => {
    for (const { headers, name, path } of questions) {
      const ask = () => fetch(`${service.url}${path}`, { headers }).then((answer) => answer.text());
      for (const fault of await faultsOf(postgres, ask, "runs")) {
        isWellPlanned = false;
        remark(`Plan of the list ${name}: ${fault}.`);
      }
    }
  });
  if (isWellPlanned) remark("Every list is answered by an index.");
}
