import type { RunId } from "../core/basics/ids.ts";
import type { Statements } from "./database.ts";

const SECOND_MS = 1_000;

/**
 * Calls `remove` while the row of the run is locked, so that no worker claims the run meanwhile, if no worker has the run
 * and its workspace is stored: no turn began since. If the checkpoint lacks some files, such as unreadable ones, the run must also
 * have ended `gapsMs` ago. Returns whether `remove` was called. `remove` may be called again after a failure of the database.
 */
export function whileStored(
  database: Statements,
  { gapsMs, runId }: { readonly runId: RunId; readonly gapsMs: number },
  remove: () => Promise<void>,
): Promise<boolean> {
  const gapsSeconds = Math.ceil(gapsMs / SECOND_MS);
  return database.transaction(async (tx) => {
    const rows = await tx.$queryRaw<{ isStored: boolean }[]>`
      SELECT coalesce((
        SELECT kind = 'workspace.stored' FROM run_events
        WHERE run_id = runs.id AND kind IN ('turn.started', 'workspace.stored', 'workspace.not_stored')
        ORDER BY seq DESC LIMIT 1), true) AS "isStored"
      FROM runs WHERE id = ${runId}::uuid AND lease_token IS NULL
        AND (checkpoint_gaps IS NULL OR ended_at < clock_timestamp() - ${gapsSeconds}::int * interval '1 second')
      FOR UPDATE SKIP LOCKED`;
    if (rows[0]?.isStored !== true) {
      return false;
    }
    await remove();
    return true;
  });
}

/** The rows of one statement, so that none holds locks for long. */
const BATCH = 1_000;

/**
 * Replaces the checkpoints of runs that ended longer ago by their work alone. The blobs are pruned afterwards. Ids of
 * blobs are ordered by time: work that is older than the checkpoint belongs to another one. Returns how many.
 */
export async function expireCheckpoints(database: Statements, keptMs: number): Promise<number> {
  const values = [BATCH, Math.ceil(keptMs / SECOND_MS)];
  return (await database.rows({ text: EXPIRE, values })).length;
}

const EXPIRE = `
  UPDATE runs SET checkpoint = work_checkpoint, checkpoint_delta = NULL WHERE id IN (
    SELECT id FROM runs
    WHERE work_checkpoint > checkpoint AND lease_token IS NULL
      AND ended_at < clock_timestamp() - $2::int * interval '1 second'
    LIMIT $1::int FOR UPDATE SKIP LOCKED)
  RETURNING id`;
