import type { Viewer } from "../people/principal.ts";
import type { RunSource } from "../runs/sources.ts";

export const USAGE_GROUPS = [
  "day",
  "source",
  "creator",
  "environment",
  "repository",
  "agent",
  "model",
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Sums over the runs that were created in a period and that `viewer` may see. Tests of environments do not count. */
export interface UsageQuery {
  readonly viewer: Viewer;
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly groups: readonly UsageGroup[];
  readonly limit: number;
}

/** Each requested group has its value here. Runs without an environment, for example, form a group without one. */
export interface UsageRow {
  /** `2026-03-01`, in UTC. */
  readonly day?: string;
  readonly source?: RunSource;
  readonly creatorId?: string;
  readonly environmentId?: string;
  /** `owner/name`, in lower case: the repository that the configuration names. */
  readonly repository?: string;
  readonly agent?: string;
  /** The model that the configuration names. */
  readonly model?: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The share of the runs that succeeded, of those that succeeded or failed. Absent: there is none. */
  readonly successRate?: number;
  /** Seconds from the creation to the end of the runs that succeeded. Absent: there is none. */
  readonly medianSecondsToResult?: number;
  readonly p95SecondsToResult?: number;
  /** From the first start to the last end, or to now. */
  readonly runSeconds: number;
  readonly totalTokens: number;
  readonly costUsd: number;
}
