import { BACKLOG_MAX, type Backlog, LATE_MINUTES } from "../core/upkeep/backlog.ts";
import type { Statements } from "./database.ts";

const LATE = `now() - interval '${LATE_MINUTES} minutes'`;
/** Reads an index up to the limit. */
const countOf = (rows: string) =>
  `(SELECT count(*)::int FROM (SELECT FROM ${rows} LIMIT ${BACKLOG_MAX}) AS counted)`;
const READ = `
  SELECT waiting.count AS "waitingRuns", waiting.seconds AS "oldestWaitSeconds",
    ${countOf(`inbox_events WHERE disposition IS NULL AND received_at < ${LATE}`)} AS "undecidedEvents",
    ${countOf(`outbox_deliveries WHERE state = 'waiting' AND created_at < ${LATE}`)} AS "lateNotices",
    ${countOf("outbox_deliveries WHERE state = 'dead'")} AS "deadNotices"
  FROM (
    SELECT count(*)::int AS count,
      coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(queued_at))), 0)::float8 AS seconds
    FROM (SELECT queued_at FROM run_queue LIMIT ${BACKLOG_MAX}) AS counted) AS waiting`;

export async function readBacklog(database: Pick<Statements, "rows">): Promise<Backlog> {
  const [row] = await database.rows<Backlog>({ text: READ, values: [] });
  if (row === undefined) {
    throw new Error("An aggregate has one row.");
  }
  return row;
}
