import type { Job } from "../core/ports/queue.ts";
import type { Tx } from "./database.ts";
import { JOB_COLUMNS, type JobInsert } from "./store-deps.ts";

/** How long an event or a delivery may wait before Errand checks whether its job was lost. */
export const IDLE_SECONDS = 15;

/** Stores jobs in the caller's transaction. */
export async function insertJobs(
  tx: Pick<Tx, "$executeRawUnsafe">,
  { rowsOf, sql }: JobInsert,
  jobs: readonly Job[],
): Promise<void> {
  const rows = rowsOf(jobs);
  if (rows.length === 0) {
    return;
  }
  const newJobs = `new_jobs AS (SELECT * FROM json_to_recordset($1::json) AS job (${JOB_COLUMNS}))`;
  await tx.$executeRawUnsafe(`WITH ${newJobs} ${sql}`, JSON.stringify(rows));
}
