import type { LeaseToken, RunId, TeamId } from "../../basics/ids.ts";
import type { Run } from "../../model/runs/run.ts";

/** Finds what a worker with a free slot should claim. All times are the database's. */
export interface ClaimStore {
  /**
   * The run to claim for a job. It is the job's own run, unless another team comes first: of the teams with waiting runs
   * and room in their quota `running_runs`, the one with the fewest runs at work, and of those the one whose last claim is
   * longest ago. Of another team, it is the run that was queued first. Undefined: the run of the job waits no longer, or
   * not for this worker, or no team has room.
   */
  next(claim: WantedClaim): Promise<NextRun | undefined>;
  /** The run of the team that was queued first and that a worker of this name may claim. Undefined: none, or no room. */
  firstWaiting(teamId: TeamId, host: string | undefined): Promise<WaitingRun | undefined>;
  /** The teams that have as many runs at work as their quota `running_runs` allows. */
  listTeamsAtQuota(): Promise<readonly TeamId[]>;
}

export interface WantedClaim {
  /** The run of the job. */
  readonly runId: RunId;
  /** The worker that claims: the name by which runs ask for it, and the id of its data directory. */
  readonly host: string | undefined;
  readonly disk: string | undefined;
  /** Runs that this worker cannot claim yet. */
  readonly except: readonly RunId[];
  /** How long a run of another team, whose files another worker has, is left to that worker. */
  readonly preferMs: number;
}

export interface NextRun {
  readonly id: RunId;
  /** The quota `running_runs` of its team. */
  readonly runningMax?: number;
  /** The run of the job, if another team comes first. It needs another job. */
  readonly passedOver?: WaitingRun;
}

export type WaitingRun = Pick<Run, "id" | "config"> & { readonly queuedAt: Date };

/** Stores which attempt may write to a run, and finds runs that need one. All times are the database's. */
export interface LeaseStore {
  /**
   * Extends leases of different runs by `ttlMs` of database time. Returns the versions of the runs whose lease was
   * extended (`RunAggregate.version`): the others have no lease any more, or another attempt has it.
   */
  renew(leases: readonly HeldLease[], ttlMs: number): Promise<ReadonlyMap<RunId, string>>;
  /** Leases that expire within `withinMs` by the database's clock, or have expired. The longest expired comes first. */
  listExpiring(withinMs: number, limit: number): Promise<readonly ExpiringLease[]>;
  /**
   * Runs that have been QUEUED, free and unchanged for a while, and that workers of this name may claim. Those of teams
   * at their quota `running_runs` are left out.
   */
  listIdle(host: string | undefined, limit: number): Promise<readonly IdleRun[]>;
}

export interface HeldLease {
  readonly runId: RunId;
  readonly token: LeaseToken;
}

export interface ExpiringLease {
  readonly runId: RunId;
  /** Negative when it has expired. */
  readonly remainingMs: number;
}

export type IdleRun = Pick<Run, "id" | "config">;
