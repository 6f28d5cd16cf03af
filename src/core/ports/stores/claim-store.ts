import type { LeaseToken, RunId, TeamId } from "../../basics/ids.ts";

/** The waiting runs, from which a worker with a free slot takes the next one. All times are the database's. */
export interface ClaimStore {
  /**
   * Chooses the next run for a worker, and reserves it for a few seconds, in which it counts as a run at work.
   *
   * 1. The team with the fewest runs at work comes first; of those with equally many, the one whose last claim is longest
   *    ago. A team without room in its quota `running_runs` is left out.
   * 2. Within the team, the highest of `RUN_PRIORITIES` comes first, then the lowest of `QUEUE_CLASSES`. After an hour, a low
   *    run counts as normal, and a batch run as one of the API.
   * 3. Of these, the member with the fewest runs at work, or whose last claim is longest ago.
   * 4. Of that member, the run that was queued first.
   */
  reserveNext(claim: WantedClaim): Promise<NextRun | NothingNext>;
  /**
   * Ends the reservation of a run that was not claimed. With `heldFor`, only the worker of that disk may claim it for
   * `ms`, while that worker has a free slot.
   */
  release(runId: RunId, heldFor?: { readonly disk: string; readonly ms: number }): Promise<void>;
  /** The teams that have as many runs at work as their quota `running_runs` allows. */
  listTeamsAtQuota(): Promise<readonly TeamId[]>;
  /**
   * How many runs wait for a slot, by the name of the worker that they ask for (`""`: none). Runs of teams at their quota do
   * not count. At most a thousand runs are counted.
   */
  countWaiting(): Promise<ReadonlyMap<string, number>>;
  /**
   * The place of a run among the waiting runs of its creator that ask for the same worker, counted from 1. Undefined: it does
   * not wait.
   */
  positionOf(runId: RunId): Promise<number | undefined>;
}

/** The worker that claims. */
export interface WantedClaim {
  /** The name by which runs ask for it. */
  readonly host: string | undefined;
  /** The id of its data directory. A run whose files another worker has is left to that worker while it has a free slot. */
  readonly disk: string | undefined;
  /** Runs that it cannot claim yet. */
  readonly except: readonly RunId[];
}

/** `empty`: no run waits. `later`: this worker may claim none of those that wait now. */
export type NothingNext = "empty" | "later";

export interface NextRun {
  readonly id: RunId;
  /** The quota `running_runs` of its team. */
  readonly runningMax?: number;
}

/** Stores which attempt may write to a run, and finds runs that need one. All times are the database's. */
export interface LeaseStore {
  /**
   * Extends leases of different runs by `ttlMs` of database time. Returns the versions of the runs whose lease was
   * extended (`RunAggregate.version`): the others have no lease any more, or another attempt has it.
   */
  renew(leases: readonly HeldLease[], ttlMs: number): Promise<ReadonlyMap<RunId, string>>;
  /** Leases that expire within `withinMs` by the database's clock, or have expired. The longest expired comes first. */
  listExpiring(withinMs: number, limit: number): Promise<readonly ExpiringLease[]>;
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
