import type { RunId } from "../core/basics/ids.ts";
import type { ExpiringLease, HeldLease, LeaseStore } from "../core/ports/stores/claim-store.ts";
import type { Statements } from "./database.ts";

const EXPIRES_AT = "SELECT expires_at FROM run_leases WHERE run_id = runs.id AND token = runs.lease_token";

/** Whether the lease of a row of `runs` has expired. A worker of the previous release has no row in `run_leases`. */
export const IS_LEASE_OVER = `coalesce(coalesce((${EXPIRES_AT}), lease_expires_at) < clock_timestamp(), false)`;

const RENEW = `
  UPDATE run_leases SET expires_at = clock_timestamp() + $3::int * interval '1 millisecond'
  FROM unnest($1::uuid[], $2::uuid[]) AS held (run_id, token)
    JOIN runs ON runs.id = held.run_id AND runs.lease_token = held.token
  WHERE run_leases.run_id = held.run_id AND run_leases.token = held.token
  RETURNING run_leases.run_id::text AS id, runs.xmin::text AS version`;

/** There are as many rows in `run_leases` as runs at work, which are few. */
const LIST_EXPIRING = `
  WITH until AS (SELECT clock_timestamp() AS now, clock_timestamp() + $1::int * interval '1 millisecond' AS at)
  SELECT id::text AS "runId", (extract(epoch FROM expires_at - now) * 1000)::float8 AS "remainingMs" FROM (
    SELECT id, expires_at FROM run_leases JOIN runs ON id = run_id AND lease_token = token
    WHERE expires_at < (SELECT at FROM until)
    UNION ALL
    SELECT id, lease_expires_at FROM runs WHERE lease_expires_at < (SELECT at FROM until) AND (${EXPIRES_AT}) IS NULL
  ) AS expiring, until ORDER BY expires_at LIMIT $2`;

/** All times are the database's, because the clocks of workers may differ. */
export class PrismaLeaseStore implements LeaseStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async renew(leases: readonly HeldLease[], ttlMs: number): Promise<ReadonlyMap<RunId, string>> {
    const values = [leases.map(({ runId }) => runId), leases.map(({ token }) => token), ttlMs];
    const rows = await this.#database.rows<{ id: RunId; version: string }>({ text: RENEW, values });
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  listExpiring(withinMs: number, limit: number): Promise<readonly ExpiringLease[]> {
    return this.#database.rows<ExpiringLease>({ text: LIST_EXPIRING, values: [withinMs, limit] });
  }
}
