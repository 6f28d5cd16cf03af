import { AppError } from "../core/basics/errors.ts";
import type { RunId } from "../core/basics/ids.ts";
import type { RunAggregate } from "../core/ports/stores/run-store.ts";
import type { Statements } from "./database.ts";
import { type FollowUp, Prisma, type Run, type Thread } from "./generated/client.ts";
import { IS_LEASE_OVER } from "./lease-store.ts";
import { selectList } from "./rows.ts";
import { RUN_COLUMNS, runOf } from "./run-columns.ts";
import { followUpOf, threadOf } from "./run-rows.ts";

const LOCK = "SELECT FROM runs WHERE id = $1::uuid FOR UPDATE";
const { showsCard: _ofCurrentRun, ...THREAD } = Prisma.ThreadScalarFieldEnum;
/** A thread that belongs to another run now shows the card of this one if it did before. */
const SHOWS_CARD = `(
  SELECT of_run.shows_card AND (threads.shows_card OR threads.run_id IS DISTINCT FROM runs.id)
  FROM thread_runs of_run WHERE of_run.thread_id = threads.id AND of_run.run_id = runs.id)`;
/** One statement, so that everything is from one moment. Every write to the row gives it another `xmin`. */
const READ = `
  SELECT ${RUN_COLUMNS}, xmin::text AS version, ${IS_LEASE_OVER} AS over,
    (SELECT json_agg(one ORDER BY seq) FROM (
      SELECT ${selectList(Object.values(Prisma.FollowUpScalarFieldEnum))} FROM follow_ups
      WHERE run_id = runs.id AND (turn IS NULL OR turn = runs.turn) AND withdrawn_at IS NULL) AS one) AS "followUps",
    (SELECT json_agg(one) FROM (
      SELECT ${selectList(Object.values(THREAD))}, ${SHOWS_CARD} AS "showsCard" FROM threads
      WHERE id IN (SELECT thread_id FROM thread_runs WHERE run_id = runs.id)) AS one) AS threads
  FROM runs WHERE id = $1::uuid`;

/** Times are texts in JSON. No withdrawn follow-up is read. */
type Sent<Row> = Omit<Row, "createdAt" | "editedAt" | "withdrawnAt"> & { readonly createdAt: string };
type SentFollowUp = Sent<FollowUp> & { readonly editedAt: string | null };
interface AggregateRow extends Run {
  readonly version: string;
  readonly over: boolean;
  readonly followUps: readonly SentFollowUp[] | null;
  readonly threads: readonly Sent<Thread>[] | null;
}

/** Locks the run until the end of this transaction. */
export async function lockRun(statements: Pick<Statements, "rows">, id: RunId): Promise<void> {
  await statements.rows({ text: LOCK, values: [id] });
}

/**
 * Everything that a decision needs. It must be read again after waiting for a lock, because a statement sees the
 * state at its start.
 */
export async function readAggregate(statements: Pick<Statements, "rows">, id: RunId): Promise<RunAggregate> {
  const [row] = await statements.rows<AggregateRow>({ text: READ, values: [id] });
  if (row === undefined) {
    throw new AppError("resource_not_found", "There is no such run.");
  }
  const followUps = (row.followUps ?? []).map((each) => followUpOf(receivedFollowUp(each)));
  return {
    run: runOf(row),
    version: row.version,
    waiting: followUps.filter(({ turn }) => turn === undefined),
    taken: followUps.filter(({ turn }) => turn !== undefined),
    threads: (row.threads ?? []).map((each) => threadOf(received(each))),
    leaseOver: row.over,
  };
}

function receivedFollowUp(sent: SentFollowUp): FollowUp {
  const editedAt = sent.editedAt === null ? null : new Date(sent.editedAt);
  return { ...received(sent), editedAt, withdrawnAt: null };
}

function received<Row extends { readonly createdAt: string }>(row: Row) {
  return { ...row, createdAt: new Date(row.createdAt) };
}
