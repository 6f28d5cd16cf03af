import type { Bench, Figure } from "../bench.ts";
import { fillRuns } from "../ground/fill-runs.ts";
import { headersOf, OLD_TEAM, TEAM } from "../ground/people.ts";
import { faultsOf, withPlans } from "../ground/plans.ts";
import { query } from "../ground/postgres.ts";
import { type Service, startService } from "../ground/service.ts";
import { type Row, round } from "../report.ts";
import { spreadOf } from "../statistics.ts";
import { type KnownIds, type ListCase, listCases } from "./list-cases.ts";
import { middleCursors } from "./middle-cursor.ts";

const SMALLER_BY = 100;
const PAGE = 50;
const ANSWERS = 150;
const WARM_UP_SECONDS = 0.05;
const LIMIT_SECONDS = 30;
const FLAT = 1.5;
const LIST = "/api/v1/agent/runs";

/** A table of runs, and a service on it. */
interface Table {
  readonly url: string;
  readonly service: Service;
  readonly questions: readonly Question[];
}

type Question = { readonly name: string; readonly path: string; readonly headers: Service["headers"] };

/** What one question takes, in ms: a window each. */
interface Taken {
  readonly name: string;
  readonly large: readonly number[];
  /** The same question to the small table. */
  readonly same: readonly number[];
  /** A question to the small table that is answered with as many runs. */
  readonly asMany: readonly number[];
}

/**
 * P5: what a page of 50 takes when there are a hundred times as many runs, for every way of asking. Of few runs, a question
 * often finds fewer than a page, and a shorter answer is made sooner; so what is held against it is the plain list of the
 * small table, as long as the answer of the large one.
 */
export const listAtScale: Figure = {
  names: ["P5"],
  measure: async (bench) => {
    const { rows } = bench.options;
    const small = await prepare(bench, "list_small", rows / SMALLER_BY);
    const large = await prepare(bench, "list_large", rows);
    bench.tell(`P5: lists of ${PAGE} out of ${rows / SMALLER_BY} and of ${rows}`);
    const all: Taken[] = [];
    for (const [index, question] of large.questions.entries()) {
      const smaller = small.questions[index];
      if (smaller === undefined) continue;
      const taken = await measure(bench, small.service, smaller, large.service, question);
      const [same, asMany] = [medianRatio(taken.large, taken.same), medianRatio(taken.large, taken.asMany)];
      bench.tell(
        `  ${taken.name}: ${round(spreadOf(taken.large).median)} ms, ${round(asMany)} (${round(same)})`,
      );
      all.push(taken);
    }
    await tellPlans(bench, large);
    return rowsOf(all, rows);
  },
};

async function measure(
  { load, options }: Bench,
  smallService: Service,
  smallQuestion: Question,
  largeService: Service,
  { headers, name, path }: Question,
): Promise<Taken> {
  const p99Of = async ({ url }: Service, question: Pick<Question, "path" | "headers">) => {
    const requests = [{ method: "GET", ...question } as const];
    const limits = { warmUpSeconds: WARM_UP_SECONDS, seconds: LIMIT_SECONDS, answers: ANSWERS };
    return (await load.perform({ url, requests, connections: 1, ...limits })).p99Ms;
  };
  const answer = await fetch(`${largeService.url}${path}`, { headers });
  const { runs } = (await answer.json()) as { runs: readonly unknown[] };
  const asMany = { path: `${LIST}?limit=${Math.max(1, runs.length)}`, headers: smallService.headers };
  const taken: Record<"large" | "same" | "asMany", number[]> = { large: [], same: [], asMany: [] };
  for (let index = 0; index < options.rounds; index += 1) {
    taken.same.push(await p99Of(smallService, smallQuestion));
    taken.large.push(await p99Of(largeService, { path, headers }));
    taken.asMany.push(await p99Of(smallService, asMany));
  }
  return { name, ...taken };
}

function medianRatio(large: readonly number[], small: readonly number[]): number {
  return spreadOf(large.map((value, index) => value / (small[index] ?? Number.NaN))).median;
}

/** All together, and each that is missed. */
function rowsOf(all: readonly Taken[], rows: number): readonly Row[] {
  const figure = "P5";
  const goal = `≤ ${FLAT}`;
  const summary = (what: string, small: "same" | "asMany"): Row => {
    const ratios = all.map((taken) => medianRatio(taken.large, taken[small]));
    const { max, median, min } = spreadOf(ratios);
    const reached = ratios.filter((ratio) => ratio <= FLAT).length;
    return {
      ...{ figure, goal, floor: "" },
      what: `list p99, ${rows} runs, ${what}`,
      ours: `${reached} of ${ratios.length}`,
      ratio: `${round(median)} (${round(min)}–${round(max)})`,
      verdict: reached === ratios.length ? "reached" : "MISSED",
    };
  };
  const missed = all.filter((taken) => medianRatio(taken.large, taken.asMany) > FLAT);
  return [
    summary("against an answer as long", "asMany"),
    summary("against the same question", "same"),
    ...missed.map((taken) => ({
      ...{ figure, goal, verdict: "MISSED" as const },
      what: taken.name,
      ours: `${round(spreadOf(taken.large).median)} ms`,
      floor: `${round(spreadOf(taken.asMany).median)} ms`,
      ratio: round(medianRatio(taken.large, taken.asMany)),
    })),
  ];
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
    path: `${LIST}?limit=${PAGE}${parameters === "" ? "" : `&${parameters}`}`,
    headers: of,
  });
  const cursorOf = await middleCursors(url);
  const questions = listCases(await knownIds(url)).map((each: ListCase) => [
    ask(`${each.name}, first page`, each.finds),
    ask(`${each.name}, deep page`, `${each.finds}&cursor=${cursorOf(each.finds)}`),
    ...(each.findsNothing === undefined ? [] : [ask(`${each.name}, no match`, each.findsNothing)]),
  ]);
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
