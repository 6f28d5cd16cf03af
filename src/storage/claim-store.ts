import { defined } from "../core/basics/defined.ts";
import type { RunId, TeamId } from "../core/basics/ids.ts";
import type { ClaimStore, NextRun, NothingNext, WantedClaim } from "../core/ports/stores/claim-store.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import { TeamAtQuota } from "../core/ports/stores/storage.ts";
import type { Statements } from "./database.ts";
import { HAS_SLOT } from "./worker-store.ts";

/** The quota `running_runs` of a row of `teams`, or null. */
const RUNNING_MAX = `(
  SELECT (quota ->> 'limit')::int FROM jsonb_array_elements(teams.quotas) AS quota
  WHERE quota ->> 'name' = 'running_runs' LIMIT 1)`;
/** How many runs of a row of `teams` have a slot. There are as many leases as runs at work, which are few. */
const RUNNING = `(SELECT count(*)::int FROM runs WHERE runs.team_id = teams.id AND ${HAS_SLOT.sql})`;

/** The function is in the migrations, because its statements must see what was committed while it waited for its lock. */
const RESERVE_NEXT = `
  SELECT next_id::text AS id, running_max AS "runningMax", NOT EXISTS (SELECT FROM run_queue) AS "isEmpty"
  FROM (VALUES (1)) AS one LEFT JOIN reserve_next_run($1, $2, $3::uuid[]) ON true`;
const RELEASE = `
  UPDATE run_queue SET reserved_until = NULL, disk = coalesce($2, disk),
    others_after = CASE WHEN $2::text IS NULL THEN others_after ELSE clock_timestamp() + $3::int * interval '1 millisecond' END
  WHERE run_id = $1::uuid`;
const AT_QUOTA = `SELECT id FROM teams WHERE quotas IS NOT NULL AND ${RUNNING} >= ${RUNNING_MAX}`;
const WAITING = `
  SELECT host, count(*)::int AS count FROM (
    SELECT host FROM run_queue
    WHERE (start_after IS NULL OR start_after <= clock_timestamp())
      AND team_id <> ALL (ARRAY(${AT_QUOTA}))
    LIMIT 1000) AS waiting
  GROUP BY host`;
const POSITION = `
  SELECT (
    SELECT 1 + count(*) FROM run_queue
    WHERE (team_id, principal_id, host) = (own.team_id, own.principal_id, own.host)
      AND (class, queued_at, run_id) < (own.class, own.queued_at, own.run_id))::int AS position
  FROM run_queue AS own WHERE run_id = $1::uuid`;

interface NextRow {
  readonly id: RunId | null;
  readonly runningMax: number | null;
  readonly isEmpty: boolean;
}

export class PrismaClaimStore implements ClaimStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async reserveNext({ disk, except, host }: WantedClaim): Promise<NextRun | NothingNext> {
    const values = [host ?? null, disk ?? null, except];
    const [row] = await this.#database.rows<NextRow>({ text: RESERVE_NEXT, values });
    const { id = null, isEmpty = false, runningMax = null } = row ?? {};
    if (id === null) {
      return isEmpty ? "empty" : "later";
    }
    return defined({ id, runningMax: runningMax ?? undefined });
  }

  async release(runId: RunId, heldFor?: { readonly disk: string; readonly ms: number }): Promise<void> {
    const values = [runId, heldFor?.disk ?? null, heldFor?.ms ?? null];
    await this.#database.rows({ text: RELEASE, values });
  }

  async listTeamsAtQuota(): Promise<readonly TeamId[]> {
    const rows = await this.#database.rows<{ id: TeamId }>({ text: AT_QUOTA, values: [] });
    return rows.map(({ id }) => id);
  }

  async countWaiting(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.rows<{ host: string; count: number }>({ text: WAITING, values: [] });
    return new Map(rows.map(({ count, host }) => [host, count]));
  }

  async positionOf(runId: RunId): Promise<number | undefined> {
    const [row] = await this.#database.rows<{ position: number }>({ text: POSITION, values: [runId] });
    return row?.position;
  }
}

/**
 * Throws if a run that this transaction has just claimed exceeds the quota of its team. Claims of the team wait for each
 * other here. The lock and the count are two statements, because a statement does not see what was committed while it
 * waited.
 */
export async function requireRoom(
  statements: Statements,
  teamId: TeamId,
  lease: RunChange["lease"],
): Promise<void> {
  const runningMax = lease?.runningMax;
  if (runningMax === undefined) {
    return;
  }
  await statements.rows({
    text: "SELECT FROM teams WHERE id = $1::uuid FOR NO KEY UPDATE",
    values: [teamId],
  });
  const [row] = await statements.rows<{ running: number }>({
    text: `SELECT ${RUNNING} AS running FROM teams WHERE id = $1::uuid`,
    values: [teamId],
  });
  if ((row?.running ?? 0) > runningMax) {
    throw new TeamAtQuota();
  }
}
