import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { ExpiringLease, HeldLease, LeaseStore } from "../../../../src/core/ports/stores/claim-store.ts";
import { IDLE_SECONDS } from "../../../../src/storage/insert-jobs.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export const IDLE_MS = IDLE_SECONDS * 1_000;

export class InMemoryLeaseStore implements LeaseStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  renew(leases: readonly HeldLease[], ttlMs: number): Promise<ReadonlyMap<RunId, string>> {
    return this.#database.transaction(({ tables, now }) => {
      const renewed = new Map<RunId, string>();
      for (const { runId, token } of leases) {
        const row = tables.runs.get(runId);
        if (row?.run.lease?.token === token) {
          tables.runs.set(runId, { ...row, leaseUntil: now + ttlMs });
          renewed.set(runId, String(row.version));
        }
      }
      return renewed;
    });
  }

  listExpiring(withinMs: number, limit: number): Promise<readonly ExpiringLease[]> {
    return this.#database.read(({ runs }, now) => {
      const leased = [...runs.values()].map(({ run, leaseUntil = Infinity }) => ({
        runId: run.id,
        remainingMs: leaseUntil - now,
      }));
      const expiring = leased.filter(({ remainingMs }) => remainingMs < withinMs);
      return expiring.sort((a, b) => a.remainingMs - b.remainingMs).slice(0, limit);
    });
  }
}
