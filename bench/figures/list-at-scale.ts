import type { Bench, Figure } from "../bench.ts";
import { fillRuns } from "../ground/fill-runs.ts";
import { headersOf, OLD_TEAM, TEAM } from "../ground/people.ts";
import { faultsIn, type PlanNode, pagesIn, plansOf, withPlans } from "../ground/plans.ts";
import { query } from "../ground/postgres.ts";
import { type Service, startService } from "../ground/service.ts";
import { type Row, round, told } from "../report.ts";
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
const FIGURE = "P5";
const GOAL = `≤ ${FLAT}`;

/** A table of runs, and a service on it. */
interface Table {
  readonly url: string;
  readonly service: Service;
  readonly questions: readonly Question[];
}

type Question = { readonly name: string; readonly path: string; readonly headers: Service["headers"] };

/** What one question takes, in ms: a window each. */
interface Taken {
  readonly question: Question;
  readonly large: readonly number[];
  /** The same question to the small table. */
  readonly same: readonly number[];
  /** A question to the small table that is answered with as many runs. */
  readonly asManyQuestion: Question;
  readonly asMany: readonly number[];
  /** That once more: what differs between the two is chance. */
  readonly again: readonly number[];
}

/** What is held against what. */
type Ratio = (taken: Taken) => number;

/**
 * P5: what a page of 50 takes when there are a hundred times as many runs, for every way of asking. Of few runs, a question
 * often finds fewer than a page, and a shorter answer is made sooner; so what is held against it is the plain list of the
 * small table, as long as the answer of the large one. A p99 of so few answers is often chance: how often, the small table
 * tells against itself; and what the database looks at for an answer is counted, in which chance has no part.
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
      const ms = round(spreadOf(taken.large).median);
      bench.tell(`  ${question.name}: ${ms} ms, ${round(toAsMany(taken))} (${round(toSame(taken))})`);
      all.push(taken);
    }
    return [...timeRows(all, rows), await pagesRow(bench, small, large, all)];
  },
};

const toAsMany: Ratio = ({ asMany, large }) => medianRatio(large, asMany);
const toSame: Ratio = ({ large, same }) => medianRatio(large, same);
const byChance: Ratio = ({ again, asMany }) => medianRatio(again, asMany);

async function measure(
  { load, options }: Bench,
  smallService: Service,
  smallQuestion: Question,
  largeService: Service,
  question: Question,
): Promise<Taken> {
  const p99Of = async ({ url }: Service, { headers, path }: Question) => {
    const requests = [{ method: "GET", path, headers } as const];
    const limits = { warmUpSeconds: WARM_UP_SECONDS, seconds: LIMIT_SECONDS, answers: ANSWERS };
    return (await load.perform({ url, requests, connections: 1, ...limits })).p99Ms;
  };
  const answer = await fetch(`${largeService.url}${question.path}`, { headers: question.headers });
  const { runs } = (await answer.json()) as { runs: readonly unknown[] };
  const path = `${LIST}?limit=${Math.max(1, runs.length)}`;
  const asManyQuestion = { name: path, path, headers: smallService.headers };
  const taken: Record<"large" | "same" | "asMany" | "again", number[]> = {
    ...{ large: [], same: [], asMany: [], again: [] },
  };
  for (let index = 0; index < options.rounds; index += 1) {
    taken.same.push(await p99Of(smallService, smallQuestion));
    taken.asMany.push(await p99Of(smallService, asManyQuestion));
    taken.large.push(await p99Of(largeService, question));
    taken.again.push(await p99Of(smallService, asManyQuestion));
  }
  return { question, asManyQuestion, ...taken };
}

function medianRatio(large: readonly number[], small: readonly number[]): number {
  return spreadOf(large.map((value, index) => value / (small[index] ?? Number.NaN))).median;
}

/** All together, and each that is missed. */
function timeRows(all: readonly Taken[], rows: number): readonly Row[] {
  const what = `list p99, ${rows} runs`;
  const missed = all.filter((taken) => toAsMany(taken) > FLAT);
  return [
    summary(`${what}, against an answer as long`, all.map(toAsMany)),
    summary(`${what}, against the same question`, all.map(toSame)),
    { ...summary("list p99, an answer as long, against itself", all.map(byChance)), verdict: "" },
    ...missed.map((taken) => ({
      ...{ figure: FIGURE, goal: GOAL, verdict: "MISSED" as const },
      what: taken.question.name,
      ours: `${round(spreadOf(taken.large).median)} ms`,
      floor: `${round(spreadOf(taken.asMany).median)} ms`,
      ratio: round(toAsMany(taken)),
    })),
  ];
}

function summary(what: string, ratios: readonly number[]): Row {
  const reached = ratios.filter((ratio) => ratio <= FLAT).length;
  return {
    ...{ figure: FIGURE, goal: GOAL, floor: "", what },
    ours: `${reached} of ${ratios.length}`,
    ratio: told(spreadOf(ratios)),
    verdict: reached === ratios.length ? "reached" : "MISSED",
  };
}

/** What the database looks at, and which questions it answers without an index, or with one that does not help. */
async function pagesRow(
  { options, postgres, remark, tell }: Bench,
  small: Table,
  large: Table,
  all: readonly Taken[],
): Promise<Row> {
  tell("P5: plans");
  const plansFor = ({ service }: Table, { headers, path }: Question): Promise<readonly PlanNode[]> =>
    plansOf(postgres, () => fetch(`${service.url}${path}`, { headers }).then((answer) => answer.text()));
  const pages: Record<"small" | "large", number[]> = { small: [], large: [] };
  let isWellPlanned = true;
  await withPlans(large.url, async () => {
    for (const { asManyQuestion, question } of all) {
      const plans = await plansFor(large, question);
      pages.large.push(pagesIn(plans));
      pages.small.push(pagesIn(await plansFor(small, asManyQuestion)));
      for (const fault of faultsIn(plans, "runs")) {
        isWellPlanned = false;
        remark(`Plan of the list ${question.name}: ${fault}.`);
      }
    }
  });
  if (isWellPlanned) remark("Every list is answered by an index.");
  return {
    ...{ figure: FIGURE, ratio: "", goal: "", verdict: "" },
    what: `list, pages looked at, ${options.rows} runs, and for an answer as long`,
    ours: told(spreadOf(pages.large)),
    floor: told(spreadOf(pages.small)),
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
