import type { LeaseToken, RunId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";
import type { RunState } from "../../model/runs/states.ts";

/** Stores which attempt may write to a run, and finds runs that need one. All times are the database's. */
export interface LeaseStore {
  /**
   * Extends a lease by `ttlMs` of database time. Returns the state of the run, or undefined when another attempt has
   * the lease.
   */
  renew(id: RunId, token: LeaseToken, ttlMs: number): Promise<RunState | undefined>;
  /** Runs whose lease has expired by the database's clock. */
  listLost(limit: number): Promise<readonly RunId[]>;
  /**
   * Runs that have been QUEUED, free and unchanged for a while, and that workers of this name may claim. Those of teams
   * at their quota `running_runs` are left out.
   */
  listIdle(host: string | undefined, limit: number): Promise<readonly IdleRun[]>;
}

export type IdleRun = Pick<Run, "id" | "config">;
