import type { Viewer } from "../people/principal.ts";
import type { RunSource } from "../runs/sources.ts";

export const USAGE_GROUPS = ["day", "source", "creator", "environment"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What the runs that were created within a time and that `viewer` may see add up to. */
export interface UsageQuery {
  readonly viewer: Viewer;
  readonly from: Date;
  /** Not included. */
  readonly until: Date;
  readonly groups: readonly UsageGroup[];
  readonly limit: number;
}

/** Of the groups that were asked for, each names its own; a run without an environment is in a group without one. */
export interface UsageRow {
  /** `2026-03-01`, by UTC. */
  readonly day?: string;
  readonly source?: RunSource;
  readonly creatorId?: string;
  readonly environmentId?: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  /** From the first start to the last end, or to now. */
  readonly runSeconds: number;
  readonly totalTokens: number;
  readonly costUsd: number;
}
