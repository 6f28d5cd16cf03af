import { defined } from "../core/basics/defined.ts";
import type { RunId } from "../core/basics/ids.ts";
import { keysOf } from "../core/basics/keys-of.ts";
import type { ListedRun } from "../core/model/runs/run.ts";
import {
  RUNS_LENGTH_MAX,
  type RunFilters,
  type RunPage,
  type RunPosition,
  type RunQuery,
  type RunSort,
} from "../core/ports/stores/run-query.ts";
import type { RunKey } from "../core/ports/stores/run-store.ts";
import { Batcher, READ_TOGETHER_MAX } from "./batcher.ts";
import type { Statement, Statements } from "./database.ts";
import { Prisma, type Run as RunRow } from "./generated/client.ts";
import {
  LISTED_RUN_COLUMNS,
  LISTED_RUN_LENGTH,
  pairsOf,
  RUN_COLUMNS,
  shortRunColumns,
} from "./run-columns.ts";
import { conditionsOf, visibleTo } from "./run-filters.ts";

const { join, raw, sql } = Prisma;

const FIND_BY_IDS = `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ANY($1::uuid[])`;
const FIND_LISTED_BY_IDS = `SELECT ${LISTED_RUN_COLUMNS} FROM runs WHERE id = ANY($1::uuid[])`;
const FIND_BY_SESSION = `SELECT ${RUN_COLUMNS} FROM runs WHERE session_id = $1::uuid`;
const FIND_NEWEST_OF_CONVERSATION = `
  SELECT ${RUN_COLUMNS} FROM runs WHERE conversation_id = $1::uuid ORDER BY created_at DESC, id DESC LIMIT 1`;

/** A metadata pair, as `key=value`. */
export type FrequentPair = { readonly pair: string };
const FIND_FREQUENT_PAIRS = `
  SELECT pair FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs) AS known (pair, share)
  WHERE schemaname = current_schema() AND tablename = 'runs' AND attname = 'metadata_pairs'
    AND share > 0.005 AND pair = ANY ($1::text[])`;
const NONE: ReadonlySet<string> = new Set();

const MEMBERS = { updated_at: "updatedAt", created_at: "createdAt", title: "title", agent: "agent" } as const;
const TYPES = { updated_at: "timestamptz", created_at: "timestamptz", title: "text", agent: "text" } as const;
/**
 * One plan is good for all values of these filters: the index that starts with the column returns runs in the order
 * of the page.
 */
const EVENLY_INDEXED: ReadonlySet<keyof RunFilters> = new Set([
  "name",
  "modelId",
  "creatorId",
  "executorId",
  "environmentId",
  "skill",
  "scheduleId",
  "artifactType",
]);

export function readsOf(statements: Pick<Statements, "rows">): Batcher<RunId, RunRow | undefined> {
  return new Batcher({
    itemsMax: READ_TOGETHER_MAX,
    perform: async (ids) => {
      const found = await statements.rows<RunRow>({ text: FIND_BY_IDS, values: [[...new Set(ids)]] });
      const byId = new Map(found.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id));
    },
  });
}

export function findStatement(key: Exclude<RunKey, { readonly id: RunId }>): Statement {
  if ("sessionId" in key) {
    return { text: FIND_BY_SESSION, values: [key.sessionId] };
  }
  return { text: FIND_NEWEST_OF_CONVERSATION, values: [key.conversationId] };
}

/** One row on a server that can compare words by similarity. */
export const FIND_SIMILARITY: Statement = {
  text: "SELECT 1 AS found FROM pg_extension WHERE extname = 'pg_trgm'",
  values: [],
};

/** Which of these pairs many runs have, according to the planner's statistics. */
export function frequentStatement(metadata: Readonly<Record<string, string>>): Statement {
  return { text: FIND_FREQUENT_PAIRS, values: [pairsOf(metadata)] };
}

/** Selects one run more than the page has, to know whether there is another page. */
export function listStatement(query: RunQuery, frequentPairs: ReadonlySet<string> = NONE): Statement {
  const { filters, limit, order, sort } = query;
  // The limit is part of the text, because for an unknown limit the planner expects a tenth of the table.
  const end = raw(`${order}, id ${order} LIMIT ${limit + 1}`);
  const conditions = [visibleTo(query.viewer), ...conditionsOf(filters, { sort, frequentPairs })];
  const pieces = piecesOf(query).map((piece) => {
    const all = join([...conditions, ...piece], " AND ");
    return sql`SELECT ${raw(LISTED_RUN_COLUMNS)} FROM runs WHERE ${all} ORDER BY ${raw(sort)} ${end}`;
  });
  const inOrder = sql`ORDER BY ${raw(`"${MEMBERS[sort]}" ${order}, id ${order}`)}`;
  const page = inOne(pieces, sql`${inOrder} LIMIT ${raw(String(limit + 1))}`);
  // A subquery with an order of its own computes the length once, and not for each column that depends on it.
  const { text, values } = sql`
    SELECT ${raw(shortRunColumns(shortMax(limit)))}, length FROM (
      SELECT *, ${raw(LISTED_RUN_LENGTH)} AS length FROM (${page}) page ${inOrder}
    ) measured ${inOrder}`;
  return { text, values, isPlannedAnew: !isEvenlyIndexed(filters) };
}

/** A row as `listStatement` finds it. If its length is above `shortMax`, most of its texts are null. */
export type FoundRow = RunRow & { readonly length: number };

/** Even a page of the longest short rows is within the limit. */
function shortMax(limit: number): number {
  return Math.floor(RUNS_LENGTH_MAX / (limit + 1));
}

/** The rows of one page: at most `limit`, and none after the row that reaches the limit of the length. */
export function cutPage(found: readonly FoundRow[], { limit }: RunQuery): readonly FoundRow[] {
  let length = 0;
  const end = found.findIndex((row) => {
    length += row.length;
    return length >= RUNS_LENGTH_MAX;
  });
  return found.slice(0, end === -1 ? limit : Math.min(end + 1, limit));
}

/** Reads the long rows of a page. A window function over all rows would take as long as finding them. */
export async function completeRows(
  page: readonly FoundRow[],
  { limit }: RunQuery,
  statements: Pick<Statements, "rows">,
): Promise<readonly RunRow[]> {
  const isLong = ({ length }: FoundRow) => length > shortMax(limit);
  const ids = page.filter(isLong).map(({ id }) => id);
  if (ids.length === 0) {
    return page;
  }
  const rows = await statements.rows<RunRow>({ text: FIND_LISTED_BY_IDS, values: [ids] });
  const complete = new Map(rows.map((row) => [row.id, row]));
  // A run that was deleted meanwhile is missing.
  return page.flatMap((row) => (isLong(row) ? (complete.get(row.id) ?? []) : row));
}

/** Whether this page starts a walk that would meet runs updated meanwhile. Then the end of the walk must be known. */
export function needsEnd({ after, order, sort }: RunQuery): boolean {
  return after === undefined && sort === "updated_at" && order === "asc";
}

export type NewestUpdate = { readonly newest: Date | null };

export function newestStatement({ viewer }: RunQuery): Statement {
  const { text, values } = sql`SELECT max(updated_at) AS newest FROM runs WHERE ${visibleTo(viewer)}`;
  return { text, values };
}

/**
 * `last`: the run or row at the end of the page, if more runs follow. `until`: the end of the walk that starts with this
 * page. A continued walk keeps its end.
 */
export function pageOf(
  runs: readonly ListedRun[],
  { after, sort }: RunQuery,
  last: SortedBy | undefined,
  until = after?.until,
): RunPage {
  if (last === undefined) {
    return { runs };
  }
  return { runs, next: { ...positionOf(last, sort), ...defined({ until }) } };
}

type SortedBy = Pick<ListedRun, "id" | (typeof MEMBERS)[RunSort]> | RunRow;

function positionOf(run: SortedBy, sort: RunSort): RunPosition {
  const value = run[MEMBERS[sort]];
  return { value: value instanceof Date ? value.toISOString() : value, id: run.id };
}

/** Most runs end soon. The others have their own index. */
const LONG_MS = 6 * 3_600_000;
const LONG = sql`updated_at - created_at > interval '06:00:00'`;

/**
 * In the order of updates, the runs created before a time begin a little after that time, except long-lived ones. In
 * one statement, the database would read everything that came later.
 */
function piecesOf(query: RunQuery): readonly (readonly Prisma.Sql[])[] {
  const { after, filters, order, sort } = query;
  const { createdBefore } = filters;
  const place = positionAfter(query);
  if (createdBefore === undefined || sort !== "updated_at") {
    return [place];
  }
  const end = new Date(createdBefore.getTime() + LONG_MS);
  const untilEnd = sql`updated_at < ${end}::timestamptz`;
  const long = [sql`updated_at >= ${end}::timestamptz`, LONG, ...place];
  if (order === "asc") {
    return [[untilEnd, ...place], long];
  }
  // Of two starting points the database would choose either.
  const isBehindEnd = after !== undefined && new Date(after.value) < end;
  return [isBehindEnd ? place : [untilEnd], long];
}

function inOne(pieces: readonly Prisma.Sql[], inOrder: Prisma.Sql): Prisma.Sql {
  const [first, ...others] = pieces;
  if (first !== undefined && others.length === 0) {
    return first;
  }
  return sql`${join(
    pieces.map((piece) => sql`(${piece})`),
    " UNION ALL ",
  )} ${inOrder}`;
}

/** As a row comparison, the database starts at the right place of the index. With OR it does not. */
function positionAfter({ after, sort, order }: RunQuery): Prisma.Sql[] {
  if (after === undefined) {
    return [];
  }
  const place = sql`(${after.value}::${raw(TYPES[sort])}, ${after.id}::uuid)`;
  const isBehind = sql`(${raw(sort)}, id) ${raw(order === "desc" ? "<" : ">")} ${place}`;
  return after.until === undefined ? [isBehind] : [isBehind, sql`updated_at <= ${after.until}::timestamptz`];
}

function isEvenlyIndexed(filters: RunFilters): boolean {
  const [filter, ...others] = keysOf(filters);
  if (filter === undefined) {
    return true;
  }
  const values = filter === "states" || filter === "sources" ? filters[filter] : undefined;
  const isEven = values === undefined ? EVENLY_INDEXED.has(filter) : values.length === 1;
  return isEven && others.length === 0;
}
