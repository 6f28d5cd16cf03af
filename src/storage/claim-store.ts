import { defined } from "../core/basics/defined.ts";
import type { RunId, TeamId } from "../core/basics/ids.ts";
import type { ClaimStore, NextRun, WaitingRun, WantedClaim } from "../core/ports/stores/claim-store.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import { TeamAtQuota } from "../core/ports/stores/storage.ts";
import type { Statements } from "./database.ts";
import { RUN_CONFIG } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";
import { HAS_SLOT } from "./worker-store.ts";

const WAITS = "state = 'QUEUED' AND lease_token IS NULL";
/** For the worker name `$2`. */
const IS_FOR_HOST = "(config ->> 'worker_host' IS NULL OR config ->> 'worker_host' = $2)";
/** A new run has been queued since its creation. */
const QUEUED_AT = "coalesce(state_since, created_at)";
const IN_ORDER = `ORDER BY ${QUEUED_AT} LIMIT 1`;

/** The quota `running_runs` of a row of `teams`, or null. */
const RUNNING_MAX = `(
  SELECT (quota ->> 'limit')::int FROM jsonb_array_elements(teams.quotas) AS quota
  WHERE quota ->> 'name' = 'running_runs' LIMIT 1)`;
/** How many runs of a row of `teams` have a slot. There are as many leases as runs at work, which are few. */
const RUNNING = `(SELECT count(*)::int FROM runs WHERE runs.team_id = teams.id AND ${HAS_SLOT.sql})`;
/** Whether a row of `teams` has no room. A team without the quota has. */
export const IS_AT_QUOTA = `coalesce(${RUNNING} >= ${RUNNING_MAX}, false)`;

/**
 * The teams with waiting runs are found one after another in an index, because a list of all waiting runs can be long. A
 * claim is noted only if teams compete, so that a server with one team writes nothing here.
 */
const NEXT = `
  WITH RECURSIVE job AS (SELECT id, team_id, config, ${QUEUED_AT} AS queued_at FROM runs WHERE id = $1::uuid AND ${WAITS} AND ${IS_FOR_HOST} AND id <> ALL ($5::uuid[])),
  waiting AS (
    (SELECT team_id FROM runs WHERE ${WAITS} ORDER BY team_id LIMIT 1)
    UNION ALL
    SELECT (SELECT team_id FROM runs WHERE ${WAITS} AND team_id > waiting.team_id ORDER BY team_id LIMIT 1)
    FROM waiting WHERE team_id IS NOT NULL),
  running AS (SELECT team_id, count(*)::int AS count FROM runs WHERE ${HAS_SLOT.sql} GROUP BY team_id),
  candidates AS (
    SELECT teams.id AS team_id, teams.id = job.team_id AS "isOfJob", max, coalesce(running.count, 0) AS running,
      claimed_at, CASE WHEN teams.id = job.team_id THEN job.id ELSE (
        SELECT id FROM runs WHERE team_id = teams.id AND ${WAITS} AND ${IS_FOR_HOST} AND id <> ALL ($5::uuid[])
          AND (disk IS NULL OR disk = $3 OR ${QUEUED_AT} < clock_timestamp() - $4::int * interval '1 millisecond')
        ${IN_ORDER}) END AS id
    FROM job, waiting JOIN teams ON teams.id = waiting.team_id
      LEFT JOIN running ON running.team_id = teams.id LEFT JOIN team_claims ON team_claims.team_id = teams.id,
      LATERAL (SELECT ${RUNNING_MAX} AS max) AS quota),
  able AS (SELECT * FROM candidates WHERE id IS NOT NULL AND (max IS NULL OR running < max)),
  chosen AS (SELECT * FROM able ORDER BY running, claimed_at NULLS FIRST, "isOfJob" DESC, team_id LIMIT 1),
  noted AS (
    INSERT INTO team_claims (team_id, claimed_at)
    SELECT team_id, clock_timestamp() FROM chosen WHERE (SELECT count(*) FROM able) > 1
    ON CONFLICT (team_id) DO UPDATE SET claimed_at = excluded.claimed_at)
  SELECT chosen.id::text, chosen.max, job.id::text AS "jobId", job.config, job.queued_at AS "queuedAt",
    NOT chosen."isOfJob" AND EXISTS (SELECT FROM able WHERE "isOfJob") AS "isPassedOver"
  FROM chosen, job`;

const FIRST_WAITING = `
  SELECT id::text, config, ${QUEUED_AT} AS "queuedAt" FROM runs
  WHERE team_id = $1::uuid AND ${WAITS} AND ${IS_FOR_HOST}
    AND NOT (SELECT ${IS_AT_QUOTA} FROM teams WHERE id = $1::uuid)
  ${IN_ORDER}`;

interface WaitingRow {
  readonly id: RunId;
  readonly config: unknown;
  readonly queuedAt: Date;
}

interface NextRow extends WaitingRow {
  readonly max: number | null;
  readonly jobId: RunId;
  readonly isPassedOver: boolean;
}

export class PrismaClaimStore implements ClaimStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async next({ runId, host, disk, except, preferMs }: WantedClaim): Promise<NextRun | undefined> {
    const values = [runId, host ?? null, disk ?? null, preferMs, except];
    const [row] = await this.#database.rows<NextRow>({ text: NEXT, values });
    if (row === undefined) {
      return undefined;
    }
    const { id, isPassedOver, jobId, max } = row;
    return defined({
      id,
      runningMax: max === null ? undefined : max,
      passedOver: isPassedOver ? waitingRunOf({ ...row, id: jobId }) : undefined,
    });
  }

  async firstWaiting(teamId: TeamId, host: string | undefined): Promise<WaitingRun | undefined> {
    const values = [teamId, host ?? null];
    const [row] = await this.#database.rows<WaitingRow>({ text: FIRST_WAITING, values });
    return row && waitingRunOf(row);
  }

  async listTeamsAtQuota(): Promise<readonly TeamId[]> {
    const text = `SELECT id::text FROM teams WHERE quotas IS NOT NULL AND ${IS_AT_QUOTA}`;
    const rows = await this.#database.rows<{ id: TeamId }>({ text, values: [] });
    return rows.map(({ id }) => id);
  }
}

function waitingRunOf({ config, id, queuedAt }: WaitingRow): WaitingRun {
  return {
    id,
    config: parseJsonColumn(RUN_CONFIG, config, { table: "runs", id, column: "config" }),
    queuedAt,
  };
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
