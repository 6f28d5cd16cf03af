import { isVisible } from "../../../../src/core/model/policies/visibility.ts";
import { type ListedRun, type Run, UNLISTED_MEMBERS } from "../../../../src/core/model/runs/run.ts";
import {
  RUNS_LENGTH_MAX,
  type RunFilters,
  type RunPage,
  type RunPosition,
  type RunQuery,
  type RunSort,
  STATES_OF_TASK,
  type TaskStatus,
  wordsOf,
} from "../../../../src/core/ports/stores/run-query.ts";
import { needsEnd, pageOf } from "../../../../src/storage/run-list.ts";

export function listRuns(runs: Iterable<Run>, query: RunQuery): RunPage {
  const { after, limit, order, sort } = query;
  const sign = order === "asc" ? 1 : -1;
  const isBehind = (run: Run) => after === undefined || sign * compare(positionOf(run, sort), after) > 0;
  const isBeforeEnd = (run: Run) => after?.until === undefined || updateOf(run) <= after.until;
  const all = Array.from(runs);
  const visible = all.filter((run) => isVisible(run, query.viewer));
  const found = visible
    .filter(
      (run) => isBehind(run) && isBeforeEnd(run) && CHECKS.every((holds) => holds(run, query.filters, all)),
    )
    .sort((a, b) => sign * compare(positionOf(a, sort), positionOf(b, sort)));
  const newest = needsEnd(query) ? visible.map(updateOf).sort().at(-1) : undefined;
  const page = withinLength(found.slice(0, limit).map(asListed));
  return pageOf(page, query, found.length > page.length ? page.at(-1) : undefined, newest);
}

/** Always at least the first run. */
function withinLength(runs: readonly ListedRun[]): readonly ListedRun[] {
  let before = 0;
  return runs.filter((run) => {
    const fits = before < RUNS_LENGTH_MAX;
    before += Buffer.byteLength(
      JSON.stringify(run, (_name, value) => (typeof value === "bigint" ? 0 : value)),
    );
    return fits;
  });
}

/** The run without the members that lists leave out. */
export function asListed(run: Run): ListedRun {
  const left = new Set<string>(UNLISTED_MEMBERS);
  return Object.fromEntries(
    Object.entries(run).filter(([member]) => !left.has(member)),
  ) as unknown as ListedRun;
}

function updateOf({ updatedAt }: Run): string {
  return updatedAt.toISOString();
}

const VALUES: Readonly<Record<RunSort, (run: Run) => string>> = {
  updated_at: updateOf,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  title: ({ title }) => title,
  agent: ({ agent }) => agent,
};

function positionOf(run: Run, sort: RunSort): RunPosition {
  return { value: VALUES[sort](run), id: run.id };
}

/** Runs with the same value are in the order of their ids. */
function compare(a: RunPosition, b: RunPosition): number {
  if (a.value !== b.value) {
    return a.value < b.value ? -1 : 1;
  }
  if (a.id === b.id) {
    return 0;
  }
  return a.id < b.id ? -1 : 1;
}

type Check = (run: Run, filters: RunFilters, all: readonly Run[]) => boolean;

const CHECKS: readonly Check[] = [
  ({ state }, { states }) => states === undefined || states.includes(state),
  ({ config }, { name }) => isAsked(config.name, name),
  ({ config }, { modelId }) => isAsked(config.harness?.model_id ?? config.model_id, modelId),
  ({ creatorId }, filters) => isAsked(creatorId, filters.creatorId),
  ({ creatorId, executorId = creatorId }, filters) => isAsked(executorId, filters.executorId),
  ({ source }, { sources }) => sources === undefined || sources.includes(source),
  (run, { taskStatuses }, all) =>
    taskStatuses === undefined || taskStatuses.some((status) => hasTaskStatus(run, status, all)),
  ({ skill }, filters) => isAsked(skill, filters.skill),
  ({ createdAt }, { createdAfter }) => createdAfter === undefined || createdAt > createdAfter,
  ({ createdAt }, { createdBefore }) => createdBefore === undefined || createdAt < createdBefore,
  ({ updatedAt }, { updatedAfter }) => updatedAfter === undefined || updatedAt > updatedAfter,
  ({ updatedAt }, { updatedBefore }) => updatedBefore === undefined || updatedAt < updatedBefore,
  ({ ancestorIds }, { parentId }) => isAsked(ancestorIds[0], parentId),
  ({ id, sessionId }, { runOrSessionId }) =>
    runOrSessionId === undefined || [id, sessionId].includes(runOrSessionId),
  ({ config }, { environmentId }) => isAsked(config.environment_id ?? null, environmentId),
  ({ ancestorIds }, { ancestorId }) => ancestorId === undefined || ancestorIds.includes(ancestorId),
  ({ metadata }, filters) =>
    Object.entries(filters.metadata ?? {}).every(([key, value]) => metadata[key] === value),
  (run, { conversationId }) => isAsked(run.conversationId, conversationId),
  ({ artifactTypes = [] }, { artifactType }) =>
    artifactType === undefined || artifactTypes.some((type) => type === artifactType),
  (run, { text }) => text === undefined || contains(run, text),
  (_, { similarText }) => similarText === undefined,
  ({ triggerUrl = "" }, { externalReference }) =>
    externalReference === undefined ||
    triggerUrl === externalReference ||
    triggerUrl.startsWith(`${externalReference}#`),
  ({ config, provenance }, { repository }) =>
    repository === undefined ||
    [config.repository, ...(provenance.environment?.repositories ?? [])].some(
      (name) => name?.toLowerCase() === repository,
    ),
  (run, { scheduleId }) => isAsked(run.scheduleId, scheduleId),
];

function hasTaskStatus(run: Run, status: TaskStatus, all: readonly Run[]): boolean {
  const states = STATES_OF_TASK[status];
  if (status === "running") {
    return all.some(
      ({ ancestorIds, id, state }) =>
        (id === run.id || ancestorIds.includes(run.id)) && states.includes(state),
    );
  }
  const root = all.find(({ id }) => id === run.ancestorIds.at(-1)) ?? run;
  return states.includes(root.state);
}

function isAsked<T>(value: T, asked: T | undefined): boolean {
  return asked === undefined || value === asked;
}

function contains({ title, prompt, skill = "" }: Run, text: string): boolean {
  const places = [title, prompt, skill].map((place) => place.toLowerCase());
  return wordsOf(text.toLowerCase()).every((word) => places.some((place) => place.includes(word)));
}
