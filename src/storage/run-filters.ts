import { keysOf } from "../core/basics/keys-of.ts";
import type { Viewer } from "../core/model/people/principal.ts";
import { ARTIFACT_TYPES } from "../core/model/workspaces/artifact.ts";
import { type RunFilters, type RunSort, wordsOf } from "../core/ports/stores/run-query.ts";
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
  states: ([state, ...others]) =>
    others.length === 0 ? sql`state = ${state}` : sql`state = ANY (${[state, ...others]}::text[])`,
  name: (name) => hashed("name_hash", sql`${name}`, sql`config_name = ${name}`),
  modelId: (modelId) => hashed("model_hash", sql`${modelId}`, sql`model_id = ${modelId}`),
  creatorId: (id) => hashed("creator_hash", sql`${id}::uuid::text`, sql`creator_id = ${id}::uuid`),
  executorId: (id) => sql`coalesce(executor_id, creator_id) = ${id}::uuid`,
  source: (source) => sql`source = ${source}`,
  createdAfter: (at, { sort }) =>
    sort === "updated_at"
      ? sql`updated_at > ${at}::timestamptz - ${CLOCKS_DIFFER} AND ${implied(sql`created_at > ${at}::timestamptz`)}`
      : sql`created_at > ${at}::timestamptz`,
  createdBefore: (at) => sql`created_at < ${at}::timestamptz`,
  updatedAfter: (at) => sql`updated_at > ${at}::timestamptz`,
  environmentId: (id) => hashed("environment_hash", sql`${id}`, sql`environment_id = ${id}`),
  skill: (skill) => hashed("skill_hash", sql`${skill}`, sql`skill = ${skill}`),
  scheduleId: (id) => hashed("schedule_hash", sql`${id}::uuid::text`, sql`schedule_id = ${id}::uuid`),
  conversationId: (conversationId) => sql`conversation_id = ${conversationId}::uuid`,
  // The index has the same condition on the empty array. Without it here, the index would not be used.
  ancestorId: (id) => sql`ancestor_ids @> ARRAY[${id}]::uuid[] AND ancestor_ids <> '{}'`,
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
      word.length < SIMILAR_LENGTH_MIN ? sql`text ILIKE ${patternOf(word)}` : sql`text %> ${word}`,
    );
    return words.length === 0
      ? sql`false`
      : sql`id IN (SELECT run_id FROM run_search_texts WHERE ${join(words, " AND ")})`;
  },
};

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
