import type { TeamId } from "../core/basics/ids.ts";
import type { DeadNotices } from "../core/ports/adapter-facts.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import {
  type HeldNotices,
  type LoggedNotice,
  type NoticeLog,
  type NoticeQuery,
  type NoticeState,
  noticeKindOf,
} from "../core/ports/stores/notice-log.ts";
import type { Tx } from "./database.ts";
import { type OutboxDelivery, Prisma } from "./generated/client.ts";
import { insertJobs } from "./insert-jobs.ts";
import { NOTICE } from "./notice-column.ts";
import { parseJsonColumn, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const { join, sql } = Prisma;

type Row = Pick<
  OutboxDelivery,
  | "id"
  | "uid"
  | "threadId"
  | "runId"
  | "notice"
  | "state"
  | "tries"
  | "createdAt"
  | "deliveredAt"
  | "error"
  | "permalink"
> & { readonly heldUntil: Date | null };

const DEAD_ROWS_MAX = 200;

/** The names of the stored states. */
const STATES: Readonly<Record<string, NoticeState>> = {
  waiting: "pending",
  sent: "delivered",
  replaced: "replaced",
  dead: "dead",
};

export class PrismaNoticeLog implements NoticeLog {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  list({ teamId, limit, ...query }: NoticeQuery): Promise<readonly LoggedNotice[]> {
    return this.#select(teamId, conditionsOf(query), limit);
  }

  async find(teamId: TeamId, id: string): Promise<LoggedNotice | undefined> {
    const [notice] = await this.#select(teamId, [sql`d.uid = ${id}::uuid`], 1);
    return notice;
  }

  async retry(id: string): Promise<boolean> {
    const { database, jobInsert, pubsub } = this.#deps;
    const threadId = await database.transaction(async (tx) => {
      const [dead] = await tx.$queryRaw<{ threadId: string }[]>`
        SELECT t.id::text AS "threadId" FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
        WHERE d.uid = ${id}::uuid AND d.state = 'dead' FOR UPDATE OF t`;
      if (dead === undefined || !(await reopen(tx, id))) {
        return undefined;
      }
      await insertJobs(tx, jobInsert, [{ kind: "deliver", key: dead.threadId }]);
      return dead.threadId;
    });
    if (threadId !== undefined) {
      pubsub.publish([CHANNELS.jobs("deliver")]);
    }
    return threadId !== undefined;
  }

  async listDead(days: number): Promise<readonly DeadNotices[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<(Omit<DeadNotices, "count"> & { readonly count: bigint })[]>`
        SELECT t.adapter, t.key AS "threadKey", coalesce(d.error, '') AS error, count(*)
        FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
        WHERE d.state = 'dead' AND d.created_at > now() - ${days}::int * interval '1 day'
        GROUP BY 1, 2, 3 ORDER BY count(*) DESC, max(d.id) DESC LIMIT ${DEAD_ROWS_MAX}`,
    );
    return rows.map((row) => ({ ...row, count: Number(row.count) }));
  }

  async listHeld(): Promise<readonly HeldNotices[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<(Omit<HeldNotices, "count"> & { readonly count: bigint })[]>`
        SELECT t.adapter, count(*), max(d.due_at) AS until
        FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
        WHERE d.state = 'waiting' AND d.reservation IS NOT NULL AND d.due_at > now() AND d.message_key LIKE 'message:%'
        GROUP BY 1 ORDER BY 1`,
    );
    return rows.map((row) => ({ ...row, count: Number(row.count) }));
  }

  /** A notice belongs to the team of its run, or of the installation that its thread is in. */
  async #select(
    teamId: TeamId,
    conditions: readonly Prisma.Sql[],
    limit: number,
  ): Promise<readonly LoggedNotice[]> {
    const where = join([sql`coalesce(r.team_id, i.team_id) = ${teamId}::uuid`, ...conditions], " AND ");
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<Row[]>`
        SELECT d.id, d.uid::text, d.thread_id::text AS "threadId", d.run_id::text AS "runId", d.notice, d.state,
          d.tries, d.created_at AS "createdAt", d.delivered_at AS "deliveredAt", d.error, d.permalink,
          CASE WHEN d.state = 'waiting' AND d.reservation IS NOT NULL AND d.due_at > now() THEN d.due_at END AS "heldUntil"
        FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
        LEFT JOIN runs r ON r.id = d.run_id
        LEFT JOIN installations i ON i.adapter = t.adapter AND i.external_id = t.installation
        WHERE ${where} ORDER BY d.id DESC LIMIT ${limit}`,
    );
    return rows.map(noticeOf);
  }
}

function conditionsOf({
  before,
  runId,
  state,
  threadId,
}: Omit<NoticeQuery, "teamId" | "limit">): Prisma.Sql[] {
  const stored = Object.keys(STATES).find((name) => STATES[name] === state);
  return [
    ...(before === undefined ? [] : [sql`d.id < ${before}`]),
    ...(runId === undefined ? [] : [sql`d.run_id = ${runId}::uuid`]),
    ...(threadId === undefined ? [] : [sql`d.thread_id = ${threadId}::uuid`]),
    ...(stored === undefined ? [] : [sql`d.state = ${stored}`]),
  ];
}

/** The caller has locked the thread. A concurrent retry finds the notice no longer dead. */
async function reopen(tx: Tx, id: string): Promise<boolean> {
  const count = await tx.$executeRaw`
    UPDATE outbox_deliveries d SET earlier_tries = tries, due_at = clock_timestamp(), reservation = NULL,
      state = CASE WHEN message_key LIKE 'card:%' AND EXISTS (
        SELECT FROM outbox_deliveries newer
        WHERE newer.thread_id = d.thread_id AND newer.message_key = d.message_key AND newer.id > d.id
          AND newer.state <> 'dead') THEN 'replaced' ELSE 'waiting' END
    WHERE uid = ${id}::uuid AND state = 'dead'`;
  return count > 0;
}

function noticeOf({ id: seq, uid: id, notice, runId, state, tries: attempts, ...row }: Row): LoggedNotice {
  const stored = parseJsonColumn(NOTICE, notice, { table: "outbox_deliveries", id, column: "notice" });
  return withoutNulls<LoggedNotice>({
    ...row,
    id,
    seq,
    attempts,
    kind: noticeKindOf(stored),
    runId,
    state: STATES[state] ?? "pending",
  });
}
