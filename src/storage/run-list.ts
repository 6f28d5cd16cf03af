import type { Run } from "../core/runs/run.ts";
import type { RunPage, RunPosition, RunQuery, RunSort } from "../core/runs/run-query.ts";
import type { Prisma } from "./generated/client.ts";

type Where = Prisma.RunWhereInput;

const COLUMNS = { updated_at: "updatedAt", created_at: "createdAt", title: "title", agent: "agent" } as const;

export function whereOf(query: RunQuery): Where {
  return { AND: [visibleTo(query), ...filtersOf(query), ...behind(query)] };
}

export function orderBy({ sort, order }: RunQuery): Prisma.RunOrderByWithRelationInput[] {
  return [{ [COLUMNS[sort]]: order }, { id: order }];
}

export function pageOf(runs: readonly Run[], { limit, sort }: RunQuery): RunPage {
  const page = runs.slice(0, limit);
  const last = page.at(-1);
  if (runs.length <= limit || last === undefined) return { runs: page };
  return { runs: page, next: positionOf(last, sort) };
}

function positionOf(run: Run, sort: RunSort): RunPosition {
  const value = run[COLUMNS[sort]];
  return { value: value instanceof Date ? value.toISOString() : value, id: run.id };
}

/** The same rule as `isVisible` of the core. */
function visibleTo({ viewer: { id, teamId, administrator, onlyRunId } }: RunQuery): Where {
  if (onlyRunId !== undefined) return { teamId, id: onlyRunId };
  return administrator ? { teamId } : { teamId, OR: [{ teamOwned: true }, { creatorId: id }] };
}

/**
 * Not Prisma's own cursor, and not `OR [beyond, (equal, id beyond)]`: both make the database walk from the
 * first row on each page. With the bound repeated outside the OR, it starts at the right place of the index.
 */
function behind({ after, sort, order }: RunQuery): Where[] {
  if (after === undefined) return [];
  const column = COLUMNS[sort];
  const value = sort === "title" || sort === "agent" ? after.value : new Date(after.value);
  const [beyond, orAt] = order === "desc" ? (["lt", "lte"] as const) : (["gt", "gte"] as const);
  return [
    { [column]: { [orAt]: value } },
    { OR: [{ [column]: { [beyond]: value } }, { id: { [beyond]: after.id } }] },
  ];
}

function filtersOf({ filters }: RunQuery): Where[] {
  const { environmentId, text } = filters;
  const equal: Where = {
    ...given("configName", filters.name),
    ...given("modelId", filters.modelId),
    ...given("creatorId", filters.creatorId),
    ...given("source", filters.source),
    ...given("skill", filters.skill),
    ...given("scheduleId", filters.scheduleId),
    ...given("conversationId", filters.conversationId),
    ...(environmentId === undefined ? {} : { environmentId }),
  };
  return [
    equal,
    ...some(filters.states, (states) => ({ state: { in: [...states] } })),
    ...some(filters.createdAfter, (gt) => ({ createdAt: { gt } })),
    ...some(filters.createdBefore, (lt) => ({ createdAt: { lt } })),
    ...some(filters.updatedAfter, (gt) => ({ updatedAt: { gt } })),
    ...some(filters.ancestorId, (id) => ({ ancestorIds: { has: id } })),
    ...some(filters.artifactType, (type) => ({ artifactTypes: { has: type } })),
    ...some(filters.metadata, (pairs) => ({ metadataPairs: { hasEvery: pairsOf(pairs) } })),
    ...some(filters.executionLocation, (location) => ({
      source: location === "LOCAL" ? "LOCAL" : { not: "LOCAL" },
    })),
    ...some(text, containing),
  ];
}

function pairsOf(metadata: Readonly<Record<string, string>>): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
}

/** Prisma hands the text to ILIKE as it is, so what is special there must be escaped. */
function containing(text: string): Where {
  const contains = { contains: text.replaceAll(/[\\%_]/g, "\\$&"), mode: "insensitive" } as const;
  return { OR: [{ title: contains }, { prompt: contains }, { skill: contains }] };
}

function given<Key extends keyof Where>(key: Key, value: Where[Key] | undefined): Where {
  return value === undefined ? {} : { [key]: value };
}

function some<T>(value: T | undefined, where: (value: T) => Where): Where[] {
  return value === undefined ? [] : [where(value)];
}
