import { AppError } from "../core/errors.ts";
import type { RunId } from "../core/ids.ts";
import type { RunSubject } from "../core/ports/storage.ts";
import type { Statements } from "./database.ts";
import { type FollowUp, Prisma, type Run, type Thread } from "./generated/client.ts";
import { RUN_COLUMNS, selected } from "./run-columns.ts";
import { followUpOf, runOf, threadOf } from "./run-rows.ts";

/** The row as it is once nobody else holds it. */
const LOCK = `
  SELECT ${RUN_COLUMNS}, coalesce(lease_expires_at < clock_timestamp(), false) AS over
  FROM runs WHERE id = $1::uuid FOR UPDATE`;
/** A statement of its own: it sees what was stored while the lock was waited for. */
const BESIDE = `
  SELECT
    (SELECT json_agg(one ORDER BY seq) FROM (
      SELECT ${selected(Object.values(Prisma.FollowUpScalarFieldEnum))} FROM follow_ups
      WHERE run_id = $1::uuid AND (turn IS NULL OR turn = $2::int)) AS one) AS "followUps",
    (SELECT json_agg(one) FROM (
      SELECT ${selected(Object.values(Prisma.ThreadScalarFieldEnum))} FROM threads
      WHERE id IN (SELECT thread_id FROM thread_runs WHERE run_id = $1::uuid)) AS one) AS threads`;

/** A time in JSON is a text. */
type Sent<Row> = Omit<Row, "createdAt"> & { readonly createdAt: string };
interface Beside {
  readonly followUps: readonly Sent<FollowUp>[] | null;
  readonly threads: readonly Sent<Thread>[] | null;
}

/** Holds the run for this transaction, and reads all that is decided upon. */
export async function lockRun(statements: Pick<Statements, "rows">, id: RunId): Promise<RunSubject> {
  const [row] = await statements.rows<Run & { readonly over: boolean }>({ text: LOCK, values: [id] });
  if (row === undefined) throw new AppError("resource_not_found", "There is no such run.");
  const [beside] = await statements.rows<Beside>({ text: BESIDE, values: [id, row.turn] });
  const followUps = (beside?.followUps ?? []).map((each) => followUpOf(received(each)));
  return {
    run: runOf(row),
    waiting: followUps.filter(({ turn }) => turn === undefined),
    taken: followUps.filter(({ turn }) => turn !== undefined),
    threads: (beside?.threads ?? []).map((each) => threadOf(received(each))),
    leaseOver: row.over,
  };
}

function received<Row extends { readonly createdAt: string }>(row: Row) {
  return { ...row, createdAt: new Date(row.createdAt) };
}
