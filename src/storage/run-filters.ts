import type { RunFilters } from "../core/runs/run-query.ts";
import { Prisma } from "./generated/client.ts";

const { raw, sql } = Prisma;

type Conditions = {
  readonly [Filter in keyof RunFilters]-?: (value: NonNullable<RunFilters[Filter]>) => Prisma.Sql;
};

/**
 * A run was updated when it was created or later, but for what the clocks of two processes differ. Where runs are in the
 * order of their updates, this says where those that are created after a time begin.
 */
const CLOCKS_DIFFER = Prisma.raw("interval '1 day'");

const CONDITIONS: Conditions = {
  states: (states) => sql`state = ANY (${[...states]}::text[])`,
  name: (name) => sql`config_name = ${name}`,
  modelId: (modelId) => sql`model_id = ${modelId}`,
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
  ancestorId: (id) => sql`ancestor_ids @> ARRAY[${id}]::uuid[]`,
  artifactType: (type) => sql`artifact_types @> ARRAY[${type}]::text[]`,
  executionLocation: (location) => sql`source ${raw(location === "LOCAL" ? "=" : "<>")} 'LOCAL'`,
  metadata: (pairs) => sql`metadata_pairs @> ${pairsOf(pairs)}::text[]`,
  text: (text) => {
    const pattern = patternOf(text);
    return sql`(title ILIKE ${pattern} OR prompt ILIKE ${pattern} OR skill ILIKE ${pattern})`;
  },
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

function pairsOf(metadata: Readonly<Record<string, string>>): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
}

/** What is special in a pattern is meant as it stands. */
function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
