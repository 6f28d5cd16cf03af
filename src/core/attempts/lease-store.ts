import type { LeaseToken, RunId } from "../ids.ts";
import type { Run } from "../runs/run.ts";
import type { RunState } from "../runs/states.ts";

/** Who may write to a run, and which runs need somebody who does. Time is the database's. */
export interface LeaseStore {
  /** Prolongs a lease by `ttlMs` of database time; the run's state, or undefined when the lease is another's. */
  renew(id: RunId, token: LeaseToken, ttlMs: number): Promise<RunState | undefined>;
  /** Runs whose lease is over, by the database's clock. */
  listLost(limit: number): Promise<readonly RunId[]>;
  /** Runs that have been QUEUED, free and untouched for a while, and that workers of this name may take. */
  listIdle(host: string | undefined, limit: number): Promise<readonly IdleRun[]>;
}

export type IdleRun = Pick<Run, "id" | "config">;
