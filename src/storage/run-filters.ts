import { keysOf } from "../core/basics/keys-of.ts";
import type { Viewer } from "../core/model/people/principal.ts";
import { ARTIFACT_TYPES } from "../core/model/workspaces/artifact.ts";
import {
  type RunFilters,
  type RunSort,
  STATES_OF_TASK,
  type TaskStatus,
  wordsOf,
} from "../core/ports/stores/run-query.ts";
import { Prisma } from "./generated/client.ts";
import { pairsOf } from "./run-columns.ts";

const { join, raw, sql } = Prisma;

/** What the best form of a filter depends on. */
export interface Outlook {
  readonly sort: RunSort;
  /** Metadata pairs that many runs have, as `key=value`. */
  readonly frequentPairs: ReadonlySet<string>;
}

/** A shorter word has too few groups of three letters to be recognised with a mistake. */
const SIMILAR_LENGTH_MIN = 4;

type Conditions = {
  readonly [Filter in keyof RunFilters]-?: (
    value: NonNullable<RunFilters[Filter]>,
    outlook: Outlook,
  ) => Prisma.Sql;
};

/**
 * A run is updated at or after its creation, except for the difference of two clocks. In the order of updates, this
 * says where the runs created after a time begin.
 */
const CLOCKS_DIFFER = raw("interval '1 day'");

const CONDITIONS: Conditions = {
  states: (states) => oneOf("state", states),
  name: (name) => hashed("name_hash", sql`${name}`, sql`config_name = ${name}`),
  modelId: (modelId) => hashed("model_hash", sql`${modelId}`, sql`model_id = ${modelId}`),
  creatorId: (id) => hashed("creator_hash", sql`${id}::uuid::text`, sql`creator_id = ${id}::uuid`),
  executorId: (id) => sql`coalesce(executor_id, creator_id) = ${id}::uuid`,
  sources: (sources) => oneOf("source", sources),
  taskStatuses: (statuses) =>
    sql`(${join(
      statuses.map((status) => hasTaskStatus(status)),
      " OR ",
    )})`,
  createdAfter: (at, { sort }) =>
    sort === "updated_at"
      ? sql`updated_at > ${at}::timestamptz - ${CLOCKS_DIFFER} AND ${implied(sql`created_at > ${at}::timestamptz`)}`
      : sql`created_at > ${at}::timestamptz`,
  createdBefore: (at) => sql`created_at < ${at}::timestamptz`,
  updatedAfter: (at) => sql`updated_at > ${at}::timestamptz`,
  updatedBefore: (at) => sql`updated_at < ${at}::timestamptz`,
  environmentId: (id) => hashed("environment_hash", sql`${id}`, sql`environment_id = ${id}`),
  skill: (skill) => hashed("skill_hash", sql`${skill}`, sql`skill = ${skill}`),
  repository: (name) =>
    implied(sql`lower(config ->> 'repository') = ${name}
      OR lower((provenance #> '{environment,repositories}')::text)::jsonb @> to_jsonb(${name}::text)`),
  scheduleId: (id) => hashed("schedule_hash", sql`${id}::uuid::text`, sql`schedule_id = ${id}::uuid`),
  conversationId: (conversationId) => sql`conversation_id = ${conversationId}::uuid`,
  // The index has the same condition on the empty array. Without it here, the index would not be used.
  ancestorId: (id) => sql`ancestor_ids @> ARRAY[${id}]::uuid[] AND ancestor_ids <> '{}'`,
  parentId: (id) =>
    sql`ancestor_ids @> ARRAY[${id}]::uuid[] AND ancestor_ids <> '{}' AND ancestor_ids[1] = ${id}::uuid`,
  runOrSessionId: (id) => sql`(id = ${id}::uuid OR session_id = ${id}::uuid)`,
  externalReference: (url) => sql`id IN (
    SELECT id FROM runs WHERE trigger_url COLLATE "C" = ${url}
    UNION ALL
    SELECT id FROM runs WHERE trigger_url COLLATE "C" >= ${`${url}#`} AND trigger_url COLLATE "C" < ${`${url}$`}
    UNION ALL
    SELECT run_id FROM artifacts WHERE key COLLATE "C" = ${url} AND type IN ('PULL_REQUEST', 'EXTERNAL_REFERENCE'))`,
  artifactType,
  metadata,
  text: (text) => {
    const words = wordsOf(text).map((word) => sql`text ILIKE ${patternOf(word)}`);
    return words.length === 0
      ? sql`true`
      : sql`id IN (SELECT run_id FROM run_search_texts WHERE ${join(words, " AND ")})`;
  },
  similarText: (text) => {
    const words = wordsOf(text).map((word) =>
      word.length < SIMILAR_LENGTH_MIN ? sql`text ILIKE ${patternOf(word)}` : isSimilarTo(word),
    );
    return words.length === 0
      ? sql`false`
      : sql`id IN (SELECT run_id FROM run_search_texts WHERE ${join(words, " AND ")})`;
  },
};

/** Two letters in the wrong order leave too few equal groups of three letters in a short word. */
const SWAPPED_LENGTH_MAX = 10;

function isSimilarTo(word: string): Prisma.Sql {
  const letters = [...word];
  const swaps = letters.length > SWAPPED_LENGTH_MAX ? [] : letters.slice(1);
  const swapped = swaps.map((letter, at) =>
    [...letters.slice(0, at), letter, letters[at], ...letters.slice(at + 2)].join(""),
  );
  const patterns = [...new Set(swapped)].map((text) => sql`text ILIKE ${patternOf(text)}`);
  return sql`(${join([sql`text %> ${word}`, ...patterns], " OR ")})`;
}

/** The runs that a viewer sees: the same rule as `isVisible` of the core. */
export function visibleTo({ id, teamId, administrator, onlyRunId }: Viewer): Prisma.Sql {
  const ofTeam = sql`team_id = ${teamId}::uuid`;
  if (onlyRunId !== undefined) {
    return sql`(${ofTeam} AND id = ${onlyRunId}::uuid)`;
  }
  if (administrator) {
    return ofTeam;
  }
  return sql`(${ofTeam} AND (team_owned OR creator_id = ${id}::uuid))`;
}

/** All of them must hold. */
export function conditionsOf(filters: RunFilters, outlook: Outlook): readonly Prisma.Sql[] {
  return keysOf(CONDITIONS).flatMap((filter) => conditionOf(filter, filters, outlook));
}

function conditionOf<Filter extends keyof RunFilters>(
  filter: Filter,
  filters: RunFilters,
  outlook: Outlook,
): Prisma.Sql[] {
  const value = filters[filter];
  if (value === undefined) {
    return [];
  }
  // Only the environment can be filtered by absence.
  if (value === null) {
    return [sql`environment_hash IS NULL`];
  }
  return [CONDITIONS[filter](value as never, outlook)];
}

/** The indexes contain a short hash of each value. Two values can have the same hash, so the value is compared as well. */
function hashed(column: string, value: Prisma.Sql, condition: Prisma.Sql): Prisma.Sql {
  return sql`${raw(column)} = filter_hash(${value}) AND ${implied(condition)}`;
}

/**
 * A condition that another one nearly implies. The planner would multiply the selectivity of both and expect far too
 * few runs; for this form it expects that half of the rows pass.
 */
function implied(condition: Prisma.Sql): Prisma.Sql {
  return sql`coalesce(${condition}, false)`;
}

function oneOf(column: "source" | "state", [value, ...others]: readonly string[]): Prisma.Sql {
  return others.length === 0
    ? sql`${raw(column)} = ${value}`
    : sql`${raw(column)} = ANY (${[value, ...others]}::text[])`;
}

function hasTaskStatus(status: TaskStatus): Prisma.Sql {
  const states = sql`${STATES_OF_TASK[status]}::text[]`;
  if (status !== "running") {
    return sql`coalesce((SELECT root.state FROM runs root WHERE root.id = runs.ancestor_ids[cardinality(runs.ancestor_ids)]), state)
      = ANY (${states})`;
  }
  return sql`(state = ANY (${states}) OR EXISTS (
    SELECT 1 FROM runs below
    WHERE below.ancestor_ids @> ARRAY[runs.id] AND below.ancestor_ids <> '{}' AND below.state = ANY (${states})))`;
}

/** Written out, so that the planner recognises the index of this type. */
function artifactType(type: string): Prisma.Sql {
  const known = ARTIFACT_TYPES.find((each) => each === type);
  return known === undefined ? sql`false` : sql`artifact_types @> ${raw(`'{${known}}'`)}`;
}

/**
 * For a frequent pair the index would return far too many runs. For any other pair the planner expects up to half a
 * percent of the runs, and would rather read all runs than use the index; with the condition written twice, its
 * estimate is low enough.
 */
function metadata(given: Readonly<Record<string, string>>, { frequentPairs }: Outlook): Prisma.Sql {
  const pairs = pairsOf(given);
  if (pairs.length === 0) {
    return sql`true`;
  }
  const frequent = pairs.filter((pair) => frequentPairs.has(pair));
  const others = pairs.filter((pair) => !frequentPairs.has(pair));
  const walked = frequent.map((pair) => sql`${pair} = ANY (metadata_pairs)`);
  const found = sql`metadata_pairs @> ${others}::text[] AND metadata_pairs @> ${others}::text[] AND metadata_pairs <> '{}'`;
  return join([...walked, ...(others.length === 0 ? [] : [found])], " AND ");
}

/** Escapes the special characters of a pattern. */
function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
