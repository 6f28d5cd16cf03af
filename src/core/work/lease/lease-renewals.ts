import type { Clock, Stop } from "../../basics/clock.ts";
import type { LeaseToken } from "../../basics/ids.ts";
import type { Log } from "../../basics/log.ts";
import type { HeldLease, LeaseStore } from "../../ports/stores/claim-store.ts";

export interface LeaseRenewalsDeps {
  readonly leases: Pick<LeaseStore, "renew">;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenewedLease extends HeldLease {
  /** `RunAggregate.version` at the time of the renewal. */
  renewed(version: string): void;
  /** Another attempt has the run, or none. Called once. */
  lost(): void;
}

/** A lease covers seven renewals. A worker that stands still for the time of five keeps its runs. */
const RENEWALS_PER_LEASE = 7;

/**
 * Renews the leases of all runs of this worker together. A renewal does not wait for the one before, which may wait for
 * a broken connection to time out.
 */
export class LeaseRenewals {
  readonly #deps: LeaseRenewalsDeps;
  readonly #held = new Map<LeaseToken, RenewedLease>();
  #stopTimer: Stop | undefined;

  constructor(deps: LeaseRenewalsDeps) {
    this.#deps = deps;
  }

  /** Renews the lease until it is stopped. */
  hold(lease: RenewedLease): Stop {
    const { clock, leaseMs } = this.#deps;
    this.#held.set(lease.token, lease);
    this.#stopTimer ??= clock.every(leaseMs / RENEWALS_PER_LEASE, () => void this.#renew());
    return () => this.#release(lease);
  }

  #release({ token }: RenewedLease): void {
    this.#held.delete(token);
    if (this.#held.size === 0) {
      this.#stopTimer?.();
      this.#stopTimer = undefined;
    }
  }

  /** While the database is unreachable, the attempts assume that they still have their leases. */
  async #renew(): Promise<void> {
    const { leaseMs, leases, log } = this.#deps;
    const held = [...this.#held.values()];
    try {
      this.#report(held, await leases.renew(held, leaseMs));
    } catch (error) {
      log.warn("lease.renewal.failed", { runs: held.length, error: String(error) });
    }
  }

  #report(held: readonly RenewedLease[], versions: Awaited<ReturnType<LeaseStore["renew"]>>): void {
    // A lease that was given up meanwhile is not lost.
    for (const lease of held.filter(({ token }) => this.#held.has(token))) {
      const version = versions.get(lease.runId);
      if (version !== undefined) {
        lease.renewed(version);
        continue;
      }
      this.#release(lease);
      lease.lost();
    }
  }
}
