import type { RunId } from "../ids.ts";
import type { Viewer } from "../people/principal.ts";
import type { Run } from "./run.ts";
import type { RunSource } from "./sources.ts";
import type { RunState } from "./states.ts";

export const RUN_SORTS = ["updated_at", "created_at", "title", "agent"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** Which runs, in which order. All filters must hold; within `states` any. */
export interface RunQuery {
  readonly viewer: Viewer;
  readonly filters: RunFilters;
  readonly sort: RunSort;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Where the previous page ended: the sort value and the id of its last run. */
  readonly after?: RunPosition;
}

export interface RunFilters {
  readonly states?: readonly RunState[];
  readonly name?: string;
  readonly modelId?: string;
  readonly creatorId?: string;
  readonly source?: RunSource;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  readonly updatedAfter?: Date;
  /** null: runs without an environment. */
  readonly environmentId?: string | null;
  readonly skill?: string;
  readonly conversationId?: string;
  readonly scheduleId?: string;
  readonly ancestorId?: RunId;
  readonly artifactType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Each of its words is to be found in title, prompt or skill. */
  readonly text?: string;
}

/** The words of a text that is looked for: what stands between its blanks. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.split(/\s+/).filter((word) => word !== ""))];
}

export interface RunPosition {
  /** ISO time for the times, else the text. */
  readonly value: string;
  readonly id: RunId;
  /**
   * The newest update when a walk from the oldest one on began. What was updated since is not for this walk: it may have
   * been shown, and could be shown again and again.
   */
  readonly until?: string;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly next?: RunPosition;
}
