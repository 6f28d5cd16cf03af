import type { Run } from "../../../src/core/model/runs/run.ts";
import {
  type RunFilters,
  type RunQuery,
  type RunSort,
  STATES_OF_TASK,
  type TaskStatus,
} from "../../../src/core/ports/stores/run-query.ts";

type Holds = {
  readonly [Filter in keyof RunFilters]-?: (run: Run, asked: Asked<Filter>, all: readonly Run[]) => boolean;
};
type Asked<Filter extends keyof RunFilters> = Exclude<RunFilters[Filter], undefined>;

/** The meaning of each list filter (docs/api.md), in the most literal code. */
const HOLDS: Holds = {
  states: ({ state }, states) => states.includes(state),
  name: ({ config }, name) => config.name === name,
  modelId: ({ config }, modelId) => (config.harness?.model_id ?? config.model_id) === modelId,
  creatorId: ({ creatorId }, asked) => creatorId === asked,
  executorId: ({ creatorId, executorId }, asked) => (executorId ?? creatorId) === asked,
  sources: ({ source }, asked) => asked.includes(source),
  taskStatuses: (run, asked, all) => asked.some((status) => hasTaskStatus(run, status, all)),
  createdAfter: ({ createdAt }, time) => createdAt > time,
  createdBefore: ({ createdAt }, time) => createdAt < time,
  updatedAfter: ({ updatedAt }, time) => updatedAt > time,
  updatedBefore: ({ updatedAt }, time) => updatedAt < time,
  environmentId: ({ config }, environmentId) => (config.environment_id ?? null) === environmentId,
  skill: ({ skill }, asked) => skill === asked,
  repository: ({ config, provenance: { environment } }, asked) =>
    config.repository?.toLowerCase() === asked ||
    environment?.repositories.some((name) => name.toLowerCase() === asked) === true,
  conversationId: ({ conversationId }, asked) => conversationId === asked,
  scheduleId: ({ scheduleId }, asked) => scheduleId === asked,
  ancestorId: ({ ancestorIds }, asked) => ancestorIds.includes(asked),
  parentId: ({ ancestorIds }, asked) => ancestorIds[0] === asked,
  runOrSessionId: ({ id, sessionId }, asked) => id === asked || sessionId === asked,
  externalReference: ({ triggerUrl }, asked) =>
    triggerUrl !== undefined && triggerUrl.split("#")[0] === asked,
  artifactType: ({ artifactTypes = [] }, asked) => artifactTypes.some((type) => type === asked),
  metadata: ({ metadata }, pairs) => Object.entries(pairs).every(([key, value]) => metadata[key] === value),
  // The in-memory fake and a server without the extension find nothing.
  similarText: () => false,
  text: ({ title, prompt, skill = "" }, text) => {
    const all = [title, prompt, skill].join("\n").toLowerCase();
    return text
      .toLowerCase()
      .split(" ")
      .every((word) => all.includes(word));
  },
};

/** All runs that paging through this query must show, found by checking each run. */
export function naiveList(runs: readonly Run[], { viewer, filters, sort, order }: RunQuery): readonly Run[] {
  const isSeen = (run: Run) =>
    run.teamId === viewer.teamId && (viewer.administrator || run.teamOwned || run.creatorId === viewer.id);
  const found = runs.filter((run) => isSeen(run) && holdsAll(run, filters, runs));
  const ascending = found.toSorted((one, other) => (placeOf(one, sort) < placeOf(other, sort) ? -1 : 1));
  return order === "asc" ? ascending : ascending.reverse();
}

function hasTaskStatus(run: Run, status: TaskStatus, all: readonly Run[]): boolean {
  const root = all.find(({ id }) => id === run.ancestorIds.at(-1)) ?? run;
  const counted =
    status === "running" ? [run, ...all.filter(({ ancestorIds }) => ancestorIds.includes(run.id))] : [root];
  return counted.some(({ state }) => STATES_OF_TASK[status].includes(state));
}

function holdsAll(run: Run, filters: RunFilters, all: readonly Run[]): boolean {
  return Object.entries(filters).every(([name, asked]) => {
    const holds = HOLDS[name as keyof RunFilters] as (
      run: Run,
      asked: unknown,
      all: readonly Run[],
    ) => boolean;
    return holds(run, asked, all);
  });
}

/** Runs with the same value are in the order of their ids. */
function placeOf(run: Run, sort: RunSort): string {
  return `${VALUES[sort](run)} ${run.id}`;
}

const VALUES: Readonly<Record<RunSort, (run: Run) => string>> = {
  updated_at: ({ updatedAt }) => updatedAt.toISOString(),
  created_at: ({ createdAt }) => createdAt.toISOString(),
  title: ({ title }) => title,
  agent: ({ agent }) => agent,
};
