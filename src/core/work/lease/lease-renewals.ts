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
  renewed(): void;
  /** Another attempt has the run, or none. Called once. */
  lost(): void;
}

/** A lease covers three renewals, so one renewal may fail without losing the lease. */
const RENEWALS_PER_LEASE = 3;

/** Renews the leases of all runs of this worker together. */
export class LeaseRenewals {
  readonly #deps: LeaseRenewalsDeps;
  readonly #held = new Map<LeaseToken, RenewedLease>();
  #stopTimer: Stop | undefined;
  #isRenewing = false;
  #again = false;

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

  /** If a renewal takes longer than the time to the next one, that one follows at once. */
  async #renew(): Promise<void> {
    this.#again = this.#isRenewing;
    if (this.#isRenewing) {
      return;
    }
    this.#isRenewing = true;
    await this.#renewAll([...this.#held.values()]).finally(() => {
      this.#isRenewing = false;
    });
    if (this.#again && this.#held.size > 0) {
      await this.#renew();
    }
  }

  /** While the database is unreachable, the attempts assume that they still have their leases. */
  async #renewAll(held: readonly RenewedLease[]): Promise<void> {
    const { leaseMs, leases, log } = this.#deps;
    const renewed = await leases.renew(held, leaseMs).catch((error: unknown) => {
      log.warn("lease.renewal.failed", { runs: held.length, error: String(error) });
    });
    // A lease that was given up meanwhile is not lost.
    for (const lease of held.filter(({ token }) => renewed !== undefined && this.#held.has(token))) {
      if (renewed?.has(lease.runId)) {
        lease.renewed();
        continue;
      }
      this.#release(lease);
      lease.lost();
    }
  }
}
