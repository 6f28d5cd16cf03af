import { ARTIFACT_TYPES } from "../core/artifacts/artifact.ts";
import type { Viewer } from "../core/people/principal.ts";
import { type RunFilters, type RunSort, wordsOf } from "../core/runs/run-query.ts";
import { Prisma } from "./generated/client.ts";

const { join, raw, sql } = Prisma;

/** What it depends on how a filter is best said. */
export interface Outlook {
  readonly sort: RunSort;
  /** Metadata pairs that many runs have, as `key=value`. */
  readonly frequentPairs: ReadonlySet<string>;
}

type Conditions = {
  readonly [Filter in keyof RunFilters]-?: (
    value: NonNullable<RunFilters[Filter]>,
    outlook: Outlook,
  ) => Prisma.Sql;
};

/**
 * A run was updated when it was created or later, but for what the clocks of two processes differ. Where runs are in the
 * order of their updates, this says where those that are created after a time begin.
 */
const CLOCKS_DIFFER = raw("interval '1 day'");

const CONDITIONS: Conditions = {
  states: ([state, ...others]) =>
    others.length === 0 ? sql`state = ${state}` : sql`state = ANY (${[state, ...others]}::text[])`,
  name: (name) => hashed("name_hash", sql`${name}`, sql`config_name = ${name}`),
  modelId: (modelId) => hashed("model_hash", sql`${modelId}`, sql`model_id = ${modelId}`),
  creatorId: (id) => hashed("creator_hash", sql`${id}::uuid::text`, sql`creator_id = ${id}::uuid`),
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
  // What is said of the empty array is what the index says of itself; without it, it would not be used.
  ancestorId: (id) => sql`ancestor_ids @> ARRAY[${id}]::uuid[] AND ancestor_ids <> '{}'`,
  artifactType,
  metadata,
  text: (text) => {
    const words = wordsOf(text).map((word) => sql`text ILIKE ${patternOf(word)}`);
    return words.length === 0
      ? sql`true`
      : sql`id IN (SELECT run_id FROM run_search_texts WHERE ${join(words, " AND ")})`;
  },
};

/** The runs that a viewer sees: the same rule as `isVisible` of the core. */
export function visibleTo({ id, teamId, administrator, onlyRunId }: Viewer): Prisma.Sql {
  const ofTeam = sql`team_id = ${teamId}::uuid`;
  if (onlyRunId !== undefined) return sql`(${ofTeam} AND id = ${onlyRunId}::uuid)`;
  if (administrator) return ofTeam;
  return sql`(${ofTeam} AND (team_owned OR creator_id = ${id}::uuid))`;
}

/** All of them must hold. */
export function conditionsOf(filters: RunFilters, outlook: Outlook): readonly Prisma.Sql[] {
  const given = Object.keys(CONDITIONS) as (keyof RunFilters)[];
  return given.flatMap((filter) => conditionOf(filter, filters, outlook));
}

function conditionOf<Filter extends keyof RunFilters>(
  filter: Filter,
  filters: RunFilters,
  outlook: Outlook,
): Prisma.Sql[] {
  const value = filters[filter];
  if (value === undefined) return [];
  // Only the environment may be asked for as none.
  if (value === null) return [sql`environment_hash IS NULL`];
  return [CONDITIONS[filter](value as never, outlook)];
}

/** The indexes contain a short hash of each value. Two values can have the same hash, so the value is compared as well. */
function hashed(column: string, value: Prisma.Sql, condition: Prisma.Sql): Prisma.Sql {
  return sql`${raw(column)} = filter_hash(${value}) AND ${implied(condition)}`;
}

/**
 * A condition that another one nearly says already. The planner would multiply the chances of both, and expect far fewer
 * runs than there are; of this it expects that every second passes.
 */
function implied(condition: Prisma.Sql): Prisma.Sql {
  return sql`coalesce(${condition}, false)`;
}

/** Written out, so that the index of this type is seen to be the right one. */
function artifactType(type: string): Prisma.Sql {
  const known = ARTIFACT_TYPES.find((each) => each === type);
  return known === undefined ? sql`false` : sql`artifact_types @> ${raw(`'{${known}}'`)}`;
}

/**
 * Of a frequent pair, the index would give far too many runs. Of all others the planner believes that up to every
 * two-hundredth run has them, and would rather walk through all runs than use the index; said twice, it is little enough.
 */
function metadata(given: Readonly<Record<string, string>>, { frequentPairs }: Outlook): Prisma.Sql {
  const pairs = pairsOf(given);
  if (pairs.length === 0) return sql`true`;
  const frequent = pairs.filter((pair) => frequentPairs.has(pair));
  const others = pairs.filter((pair) => !frequentPairs.has(pair));
  const walked = frequent.map((pair) => sql`${pair} = ANY (metadata_pairs)`);
  const found = sql`metadata_pairs @> ${others}::text[] AND metadata_pairs @> ${others}::text[] AND metadata_pairs <> '{}'`;
  return join([...walked, ...(others.length === 0 ? [] : [found])], " AND ");
}

export function pairsOf(metadata: Readonly<Record<string, string>>): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
}

/** What is special in a pattern is meant as it stands. */
function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
