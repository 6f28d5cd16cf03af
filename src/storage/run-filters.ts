import { ARTIFACT_TYPES } from "../core/artifacts/artifact.ts";
import type { RunFilters } from "../core/runs/run-query.ts";
import { Prisma } from "./generated/client.ts";
import { indexed } from "./run-columns.ts";

const { empty, join, raw, sql } = Prisma;

type Conditions = {
  readonly [Filter in keyof RunFilters]-?: (value: NonNullable<RunFilters[Filter]>) => Prisma.Sql;
};

/**
 * A run was updated when it was created or later, but for what the clocks of two processes differ. Where runs are in the
 * order of their updates, this says where those that are created after a time begin.
 */
const CLOCKS_DIFFER = Prisma.raw("interval '1 day'");

const NAME = sql`config ->> 'name'`;
const MODEL = sql`coalesce(config #>> '{harness,model_id}', config ->> 'model_id')`;

const CONDITIONS: Conditions = {
  states: ([state, ...others]) =>
    others.length === 0 ? sql`state = ${state}` : sql`state = ANY (${[state, ...others]}::text[])`,
  name: (name) => sql`${equal("config_name", name)}${whole(name, NAME)}`,
  modelId: (modelId) => sql`${equal("model_id", modelId)}${whole(modelId, MODEL)}`,
  creatorId: (creatorId) => sql`creator_id = ${creatorId}::uuid`,
  source: (source) => sql`source = ${source}`,
  createdAfter: (at) =>
    sql`created_at > ${at}::timestamptz AND updated_at > ${at}::timestamptz - ${CLOCKS_DIFFER}`,
  createdBefore: (at) => sql`created_at < ${at}::timestamptz`,
  updatedAfter: (at) => sql`updated_at > ${at}::timestamptz`,
  environmentId: (environmentId) => sql`environment_id = ${environmentId}`,
  skill: (skill) => sql`skill = ${skill}`,
  scheduleId: (scheduleId) => sql`schedule_id = ${scheduleId}::uuid`,
  conversationId: (conversationId) => sql`conversation_id = ${conversationId}::uuid`,
  // What is said of the empty array is what the index says of itself; without it, it would not be used.
  ancestorId: (id) => sql`ancestor_ids @> ARRAY[${id}]::uuid[] AND ancestor_ids <> '{}'`,
  artifactType,
  executionLocation: (location) => sql`source ${raw(location === "LOCAL" ? "=" : "<>")} 'LOCAL'`,
  metadata,
  text: (text) => sql`id IN (SELECT run_id FROM run_texts WHERE text ILIKE ${patternOf(text)})`,
};

/** All of them must hold. */
export function conditionsOf(filters: RunFilters): readonly Prisma.Sql[] {
  const given = Object.keys(CONDITIONS) as (keyof RunFilters)[];
  return given.flatMap((filter) => conditionOf(filter, filters));
}

function conditionOf<Filter extends keyof RunFilters>(filter: Filter, filters: RunFilters): Prisma.Sql[] {
  const value = filters[filter];
  if (value === undefined) return [];
  // Only the environment may be asked for as none.
  if (value === null) return [sql`environment_id IS NULL`];
  return [CONDITIONS[filter](value as never)];
}

function equal(column: string, text: string): Prisma.Sql {
  return sql`${raw(column)} = ${indexed(text)}`;
}

function whole(text: string, place: Prisma.Sql): Prisma.Sql {
  return indexed(text) === text ? empty : sql` AND ${place} = ${text}`;
}

/** Written out, so that the index of this type is seen to be the right one. */
function artifactType(type: string): Prisma.Sql {
  const known = ARTIFACT_TYPES.find((each) => each === type);
  return known === undefined ? sql`false` : sql`artifact_types @> ${raw(`'{${known}}'`)}`;
}

/**
 * Said in two ways: of a pair that is not among the most frequent ones the planner believes that each two-hundredth run has
 * it, and would rather walk through all runs than use the index. Twice a two-hundredth is little enough.
 */
function metadata(given: Readonly<Record<string, string>>): Prisma.Sql {
  const pairs = pairsOf(given);
  const each = pairs.map((pair) => sql`${pair} = ANY (metadata_pairs)`);
  return join([sql`metadata_pairs @> ${pairs}::text[]`, sql`metadata_pairs <> '{}'`, ...each], " AND ");
}

function pairsOf(metadata: Readonly<Record<string, string>>): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
}

/** What is special in a pattern is meant as it stands. */
function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
