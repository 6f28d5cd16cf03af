import type { Statements } from "./database.ts";

/** The rows of one statement, so that none holds locks for long. */
const BATCH = 1_000;
const SECOND_MS = 1_000;

/**
 * Deletes processed events with their dedupe keys, and notices that are no longer to be sent, if they are older, and
 * what runs counted for quotas in months that have ended. Returns how many. The oldest rows are looked at first, so
 * that a call costs little when there is nothing to delete.
 */
export async function pruneHistory(database: Statements, keptMs: number): Promise<number> {
  const values = [BATCH, Math.ceil(keptMs / SECOND_MS)];
  const events = await database.rows({ text: EVENTS, values });
  const notices = await database.rows({ text: NOTICES, values });
  const uses = await database.rows({ text: DELETED_RUN_USES, values: [BATCH] });
  return events.length + notices.length + uses.length;
}

const OLDER = "clock_timestamp() - $2::int * interval '1 second'";

const EVENTS = `
  WITH gone AS (
    DELETE FROM inbox_events WHERE id IN (
      SELECT id FROM (
        SELECT id, disposition, completed_at FROM inbox_events ORDER BY seq LIMIT $1::int) AS oldest
      WHERE disposition IS NOT NULL AND completed_at < ${OLDER})
    RETURNING id),
  keys AS (DELETE FROM inbox_dedupe_keys USING gone WHERE inbox_id = gone.id)
  SELECT id FROM gone`;

const NOTICES = `
  DELETE FROM outbox_deliveries WHERE id IN (
    SELECT id FROM (
      SELECT id, state, created_at FROM outbox_deliveries ORDER BY id LIMIT $1::int) AS oldest
    WHERE state <> 'waiting' AND created_at < ${OLDER})
  RETURNING id`;

const DELETED_RUN_USES = `
  DELETE FROM deleted_run_uses WHERE id IN (
    SELECT id FROM deleted_run_uses
    WHERE created_at < date_trunc('month', clock_timestamp(), 'UTC') ORDER BY created_at LIMIT $1::int)
  RETURNING id`;
