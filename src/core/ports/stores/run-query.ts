import type { RunId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { ListedRun, Run } from "../../model/runs/run.ts";
import type { RunSource } from "../../model/runs/sources.ts";
import type { RunState } from "../../model/runs/states.ts";
import type { UsageQuery, UsageRow } from "../../model/usage/usage.ts";

export const RUN_SORTS = ["updated_at", "created_at", "title", "agent"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/**
 * The state of a run and all runs below it. `running`: one of them is neither ended nor blocked. The others are states of
 * the run at the top.
 */
export const TASK_STATUSES = ["running", "failed", "blocked", "cancelled", "complete"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Of `running`: the run or one below it. Of the others: the run at the top. */
export const STATES_OF_TASK: Readonly<Record<TaskStatus, readonly RunState[]>> = {
  running: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"],
  failed: ["FAILED", "ERROR"],
  blocked: ["BLOCKED"],
  cancelled: ["CANCELLED"],
  complete: ["SUCCEEDED"],
};

/** A page of a list ends with the run that reaches this size in bytes. A single run may have a mebibyte. */
export const RUNS_LENGTH_MAX = 4 * 2 ** 20;

/** Selects and orders runs. All filters must hold; of a filter with several values, one is enough. */
export interface RunQuery {
  readonly viewer: Viewer;
  readonly filters: RunFilters;
  readonly sort: RunSort;
  readonly order: "asc" | "desc";
  /** The maximum number of runs. There are fewer when they are long (`RUNS_LENGTH_MAX`). */
  readonly limit: number;
  /** The end of the previous page: the sort value and the id of its last run. */
  readonly after?: RunPosition;
}

export interface RunFilters {
  readonly states?: readonly RunState[];
  readonly name?: string;
  readonly modelId?: string;
  readonly creatorId?: string;
  /** The principal that executes the run: its creator, or the one recorded beside it. */
  readonly executorId?: string;
  readonly sources?: readonly RunSource[];
  readonly taskStatuses?: readonly TaskStatus[];
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  readonly updatedAfter?: Date;
  readonly updatedBefore?: Date;
  /** null: runs without an environment. */
  readonly environmentId?: string | null;
  readonly skill?: string;
  /** `owner/name` in lower case: a repository of the run or of its environment when the run was created. */
  readonly repository?: string;
  readonly conversationId?: string;
  readonly scheduleId?: string;
  readonly ancestorId?: RunId;
  readonly parentId?: RunId;
  /** A run or its session. */
  readonly runOrSessionId?: string;
  /** The address of what started the run, without or with its fragment, or of what the run made on a platform. */
  readonly externalReference?: string;
  readonly artifactType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Each of its words must occur in the title, the prompt or the skill. */
  readonly text?: string;
  /**
   * Like `text`, but the words may have a typing mistake. Matches nothing on a server without the extension `pg_trgm`.
   */
  readonly similarText?: string;
}

/** The words of a search text, separated by white space. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.split(/\s+/).filter((word) => word !== ""))];
}

/** The same query with words that may have a typing mistake. Undefined when it has no words. */
export function similarQuery(query: RunQuery): RunQuery | undefined {
  const { text, ...filters } = query.filters;
  return text === undefined ? undefined : { ...query, filters: { ...filters, similarText: text } };
}

export interface RunPosition {
  /** ISO time for times, otherwise the text. */
  readonly value: string;
  readonly id: RunId;
  /**
   * The newest update when an ascending walk began. Runs updated since then are left out, because otherwise the walk
   * could return a run again and again.
   */
  readonly until?: string;
  /** Whether the list began with similar words, because no run had the exact ones. */
  readonly isSimilar?: boolean;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly next?: RunPosition;
}

/** Statistics over runs. Only runs that the viewer may see count. */
export interface RunReports {
  /** The newest run in each of these environments, by the environment's id. */
  lastRuns(viewer: Viewer, environmentIds: readonly string[]): Promise<ReadonlyMap<string, LastRuns>>;
  /** In the order of the requested groups, at most `limit` rows. */
  usage(query: UsageQuery): Promise<readonly UsageRow[]>;
}

export interface LastRuns {
  readonly created: Run;
  /** The last start of a run there; undefined: there was none. */
  readonly startedAt?: Date;
}
