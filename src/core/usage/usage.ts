import type { Viewer } from "../people/principal.ts";
import type { RunSource } from "../runs/sources.ts";

export const USAGE_GROUPS = ["day", "source", "creator", "environment"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Sums over the runs that were created in a period and that `viewer` may see. */
export interface UsageQuery {
  readonly viewer: Viewer;
  readonly from: Date;
  /** Exclusive. */
  readonly until: Date;
  readonly groups: readonly UsageGroup[];
  readonly limit: number;
}

/** Each requested group has its value here. Runs without an environment form a group without one. */
export interface UsageRow {
  /** `2026-03-01`, in UTC. */
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
