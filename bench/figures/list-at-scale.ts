import type { Bench, Figure } from "../bench.ts";
import { type Target, takeTurns } from "../load/turns.ts";
import { formatSpread, type Row, round } from "../report.ts";
import { fillRuns } from "../setup/fill-runs.ts";
import { headersOf, OLD_TEAM, TEAM } from "../setup/people.ts";
import { faultsIn, type PlanNode, pagesIn, plansOf, withPlans } from "../setup/plans.ts";
import { query } from "../setup/postgres.ts";
import { type Service, startService } from "../setup/service.ts";
import { quantile, spreadOf } from "../statistics.ts";
import { type KnownIds, type ListCase, listCases } from "./list-cases.ts";
import { middleCursors } from "./middle-cursor.ts";

const SMALLER_BY = 100;
const PAGE = 50;
/** How often each question is asked per round of the benchmark. The large table is asked three times as often. */
const ROUNDS = 75;
/** The same for questions that missed the goal and are asked again, because a p99 of few answers can be chance. */
const ROUNDS_AGAIN = 300;
const WARM_UP_ROUNDS = 10;
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

/** The latencies of one question. */
interface QuestionTimings {
  readonly question: Question;
  readonly large: Latency;
  /** The same question to the small table. */
  readonly same: Latency;
  /** A question to the small table whose answer has as many runs. */
  readonly asManyQuestion: Question;
  readonly asMany: Latency;
  /** `asMany` measured a second time: the difference between the two is chance. */
  readonly again: Latency;
}

type Quantile = "p50Ms" | "p99Ms";
type Latency = Readonly<Record<Quantile, number>>;

/**
 * P5: how long a page of 50 takes when there are a hundred times as many runs, for every kind of list. In a small
 * table a question often finds less than a page, and a shorter answer takes less time. So each question is also
 * compared with the plain list of the small table at the length of the large table's answer. A p99 is often chance.
 * To show how often, the small table is compared with itself, and the pages that the database reads for an answer are
 * counted, because that number has no chance in it.
 */
export const listAtScale: Figure = {
  names: ["P5"],
  measure: async (bench) => {
    const { rounds, rows } = bench.options;
    const small = await prepare(bench, "list_small", rows / SMALLER_BY);
    const large = await prepare(bench, "list_large", rows);
    bench.log(`P5: lists of ${PAGE} out of ${rows / SMALLER_BY} and of ${rows}`);
    const [once, all]: [QuestionTimings[], QuestionTimings[]] = [[], []];
    for (const [index, question] of large.questions.entries()) {
      const smaller = small.questions[index];
      if (smaller === undefined) {
        continue;
      }
      const measured = (times: number) =>
        measure(small.service, smaller, large.service, question, times * rounds);
      const first = await measured(ROUNDS);
      const timings = isFlat(first) ? first : await measured(ROUNDS_AGAIN);
      bench.log(`  ${question.name}: ${lineOf(timings)}${timings === first ? "" : ", asked again"}`);
      once.push(first);
      all.push(timings);
    }
    return [...timeRows(once, all, rows), await pagesRow(bench, small, large, all)];
  },
};

/** The p99 in ms with the p50 in brackets, and the ratios to the small table. */
function lineOf(timings: QuestionTimings): string {
  const timesOf = (of: "asMany" | "same") =>
    `${round(ratioTo(of, "p99Ms")(timings))} (${round(ratioTo(of, "p50Ms")(timings))})`;
  const { p50Ms, p99Ms } = timings.large;
  const ms = `${round(p99Ms)} (${round(p50Ms)}) ms`;
  return `${ms}, ${timesOf("asMany")} of an answer as long, ${timesOf("same")} of the same question`;
}

const ratioTo =
  (of: "asMany" | "same", quantile: Quantile) =>
  (timings: QuestionTimings): number =>
    timings.large[quantile] / timings[of][quantile];
/** The ratio to the slower question of the small table: the same question, or an answer of the same length. */
const ratioToSlower = (quantile: Quantile) => (timings: QuestionTimings) =>
  Math.min(ratioTo("asMany", quantile)(timings), ratioTo("same", quantile)(timings));
const byChance = ({ again, asMany }: QuestionTimings): number => again.p99Ms / asMany.p99Ms;
const isFlat = (timings: QuestionTimings): boolean => ratioToSlower("p99Ms")(timings) <= FLAT;

async function measure(
  smallService: Service,
  smallQuestion: Question,
  largeService: Service,
  question: Question,
  rounds: number,
): Promise<QuestionTimings> {
  const answer = await fetch(`${largeService.url}${question.path}`, { headers: question.headers });
  const { runs } = (await answer.json()) as { runs: readonly unknown[] };
  const path = `${LIST}?limit=${Math.max(1, runs.length)}`;
  const asManyQuestion = { name: path, path, headers: smallService.headers };
  const others = {
    same: targetOf(smallService, smallQuestion),
    asMany: targetOf(smallService, asManyQuestion),
    again: targetOf(smallService, asManyQuestion),
  };
  const subject = targetOf(largeService, question);
  const latencies = await takeTurns(subject, others, rounds, WARM_UP_ROUNDS);
  return {
    question,
    asManyQuestion,
    large: latencyOf(latencies.subject),
    same: latencyOf(latencies.others.same),
    asMany: latencyOf(latencies.others.asMany),
    again: latencyOf(latencies.others.again),
  };
}

function targetOf({ url }: Service, { headers, path }: Question): Target {
  return { url, request: { method: "GET", path, headers } };
}

function latencyOf(latenciesMs: readonly number[]): Latency {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

/**
 * A summary of all questions as first asked, one with the repeated misses in their place, and a row for each miss.
 */
function timeRows(
  once: readonly QuestionTimings[],
  all: readonly QuestionTimings[],
  rows: number,
): readonly Row[] {
  const what = `${rows} runs, against`;
  const unjudged = { verdict: "" };
  return [
    summary(`list p99, ${what} the slower of the two, misses asked again`, all.map(ratioToSlower("p99Ms"))),
    { ...summary(`list p99, ${what} the slower of the two`, once.map(ratioToSlower("p99Ms"))), ...unjudged },
    { ...summary(`list p99, ${what} an answer as long`, once.map(ratioTo("asMany", "p99Ms"))), ...unjudged },
    { ...summary(`list p99, ${what} the same question`, once.map(ratioTo("same", "p99Ms"))), ...unjudged },
    { ...summary("list p99, an answer as long, against itself", once.map(byChance)), ...unjudged },
    { ...summary(`list p50, ${what} the slower of the two`, once.map(ratioToSlower("p50Ms"))), ...unjudged },
    ...all.filter((timings) => !isFlat(timings)).map(missedRow),
  ];
}

function missedRow(timings: QuestionTimings): Row {
  return {
    ...{ figure: FIGURE, goal: GOAL, verdict: "MISSED" },
    what: timings.question.name,
    ours: `${round(timings.large.p99Ms)} ms`,
    floor: `${round(Math.max(timings.same.p99Ms, timings.asMany.p99Ms))} ms`,
    ratio: round(ratioToSlower("p99Ms")(timings)),
  };
}

function summary(what: string, ratios: readonly number[]): Row {
  const reached = ratios.filter((ratio) => ratio <= FLAT).length;
  return {
    ...{ figure: FIGURE, goal: GOAL, floor: "", what },
    ours: `${reached} of ${ratios.length}`,
    ratio: formatSpread(spreadOf(ratios)),
    verdict: reached === ratios.length ? "reached" : "MISSED",
  };
}

/**
 * Counts the pages that the database reads, and reports questions that it answers without an index or with an
 * unsuitable one.
 */
async function pagesRow(
  { options, postgres, remark, log }: Bench,
  small: Table,
  large: Table,
  all: readonly QuestionTimings[],
): Promise<Row> {
  log("P5: plans");
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
  if (isWellPlanned) {
    remark("Every list is answered by an index.");
  }
  return {
    ...{ figure: FIGURE, ratio: "", goal: "", verdict: "" },
    what: `list, pages looked at, ${options.rows} runs, and for an answer as long`,
    ours: formatSpread(spreadOf(pages.large)),
    floor: formatSpread(spreadOf(pages.small)),
  };
}

async function prepare(
  { folder, postgres, log, cleanup }: Bench,
  name: string,
  rows: number,
): Promise<Table> {
  const url = await postgres.database(name);
  const service = await startService(folder, url);
  cleanup.defer(() => service.child.stop());
  log(`filling ${rows} runs`);
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
  if (ids === undefined) {
    throw new Error("The table has no run with a parent.");
  }
  return ids;
}
