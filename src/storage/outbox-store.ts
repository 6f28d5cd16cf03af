import { defined } from "../core/basics/defined.ts";
import { questionKeyOf } from "../core/model/threads/notice.ts";
import type {
  HeldMessage,
  KeyedLimit,
  LimitsOf,
  OutboxStore,
  TakenDelivery,
} from "../core/ports/stores/outbox-store.ts";
import type { Receipt } from "../core/ports/thread-adapter.ts";
import {
  closedPace,
  decidePace,
  isProgress,
  LONG_WAIT_MS,
  type PaceState,
  type Reservation,
  UNUSED,
  writeKindOf,
} from "../core/threads/outbox/pace.ts";
import type { Tx } from "./database.ts";
import type { OutboxDelivery, Thread } from "./generated/client.ts";
import { IDLE_SECONDS, insertJobs } from "./insert-jobs.ts";
import { NOTICE } from "./notice-column.ts";
import { parseJsonColumn } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

/** Edits and reactions that wait do not hold a message back. More of them than these do. */
const WAITING_MAX = 20;

/** A waiting delivery with its thread, and the receipt of its message key. */
interface WaitingRow
  extends Pick<
      OutboxDelivery,
      "id" | "uid" | "messageKey" | "notice" | "tries" | "earlierTries" | "runId" | "reservation"
    >,
    Pick<Thread, "adapter" | "installation" | "key"> {
  readonly dueAt: Date;
  /** Milliseconds from now. */
  readonly dueInMs: number;
  readonly receipt: string | null;
}

interface Candidate {
  readonly row: WaitingRow;
  readonly delivery: TakenDelivery;
  readonly limits: readonly KeyedLimit[];
  readonly progress: boolean;
}

export class PrismaOutboxStore implements OutboxStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async take(threadId: string, limitsOf: LimitsOf = () => []): Promise<TakenDelivery | undefined> {
    return this.#deps.database.transaction(async (tx) => {
      // One writer per thread. A second one, of a worker that was taken for dead, waits here and then sees what was
      // taken.
      await tx.$queryRaw`SELECT 1 FROM threads WHERE id = ${threadId}::uuid FOR UPDATE`;
      await replaceOld(tx, threadId);
      const passed = new Set<string>();
      let behind: HeldMessage | undefined;
      for (const row of await waitingIn(tx, threadId)) {
        if (passed.has(row.messageKey)) {
          continue;
        }
        const delivery = deliveryOf(row, threadId);
        const isPost = writeKindOf(delivery) === "post";
        if (behind !== undefined && isPost) {
          continue;
        }
        const limits = limitsOf(delivery);
        const progress = isProgress(delivery, limits);
        const wait = await this.#waitOf(tx, { row, delivery, limits, progress });
        if (wait === undefined) {
          await tx.outboxDelivery.update({ where: { id: row.id }, data: { tries: { increment: 1 } } });
          const isTried =
            row.tries > 0 || (row.receipt === null && (await wasMessageTried(tx, threadId, row)));
          const questionShownAt = await questionReceipt(tx, delivery);
          return { ...delivery, ...defined({ behind, questionShownAt }), maybeShown: isTried };
        }
        if (isPost && !progress) {
          if (wait.until === undefined) {
            return undefined;
          }
          behind = { notice: delivery.notice, until: wait.until };
        }
        passed.add(row.messageKey);
      }
      return undefined;
    });
  }

  /** Undefined: it may go. Otherwise `until` says how long a limit holds it back, if that is long. */
  async #waitOf(
    tx: Tx,
    { delivery, limits, progress, row }: Candidate,
  ): Promise<{ readonly until?: Date } | undefined> {
    const isHeldForProgress = !progress && row.reservation === "tentative";
    if (row.dueInMs > 0 && !isHeldForProgress) {
      return row.reservation !== null && row.dueInMs >= LONG_WAIT_MS ? { until: row.dueAt } : {};
    }
    if (limits.length === 0) {
      return undefined;
    }
    const { now, states } = await lockLimits(tx, limits);
    const reservation = isHeldForProgress ? undefined : (row.reservation ?? undefined);
    const answer = decidePace(states, { now, isProgress: progress, reservation });
    await storeLimits(tx, limits, answer.states);
    if (answer.isDropped) {
      await tx.outboxDelivery.update({ where: { id: row.id }, data: { state: "replaced" } });
      return {};
    }
    if (answer.wait === undefined) {
      return undefined;
    }
    // If a limit holds it back, it gets a time and a job.
    const { until, reservation: made } = answer.wait;
    await this.#postpone(tx, { id: row.id, threadId: delivery.thread.id }, until - now, made);
    return until - now >= LONG_WAIT_MS ? { until: new Date(until) } : {};
  }

  async sent(deliveryId: string, receipt: Receipt, permalink?: string): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      const delivered = { deliveredAt: new Date(), permalink: permalink ?? null };
      const [sent] = await tx.outboxDelivery.updateManyAndReturn({
        where: { uid: deliveryId },
        data: { state: "sent", error: null, ...delivered },
      });
      if (sent === undefined) {
        return;
      }
      const { threadId, messageKey } = sent;
      const row = { threadId, messageKey, receipt };
      await tx.receipt.upsert({
        where: { threadId_messageKey: { threadId, messageKey } },
        create: row,
        update: { receipt },
      });
    });
  }

  async failed(
    deliveryId: string,
    error: string,
    retryAfterMs?: number,
    closed: readonly KeyedLimit[] = [],
  ): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      // Before the delivery, as in `take`, so that two transactions cannot wait for each other.
      await closeLimits(tx, closed, retryAfterMs ?? 0);
      const state = retryAfterMs === undefined ? "dead" : "waiting";
      // Another worker may have sent it meanwhile. Sending it again would show outdated content.
      const where = { uid: deliveryId, state: "waiting" };
      const [row] = await tx.outboxDelivery.updateManyAndReturn({ where, data: { state, error } });
      if (row !== undefined && retryAfterMs !== undefined) {
        // It was its turn. Those that came after it wait for the same limit behind it.
        await this.#postpone(tx, row, retryAfterMs, closed.length === 0 ? null : "firm");
      }
    });
  }

  async dropped(deliveryId: string): Promise<void> {
    await this.#deps.database.query((client) =>
      client.outboxDelivery.updateMany({
        where: { uid: deliveryId, state: "waiting" },
        data: { state: "replaced" },
      }),
    );
  }

  async #postpone(
    tx: Tx,
    { id, threadId }: { readonly id: bigint; readonly threadId: string },
    afterMs: number,
    reservation: Reservation | null,
  ): Promise<void> {
    // The job is due from the start of the transaction, which may have waited. A job that came too early would find
    // nothing to do, and the delivery would be without one.
    const [row] = await tx.$queryRaw<{ afterMs: number }[]>`
      UPDATE outbox_deliveries
      SET due_at = clock_timestamp() + ${Math.ceil(afterMs)}::int * interval '1 millisecond', reservation = ${reservation}
      WHERE id = ${id} RETURNING extract(epoch FROM due_at - now())::float8 * 1000 AS "afterMs"`;
    const job = { kind: "deliver", key: threadId, afterMs: row?.afterMs ?? afterMs } as const;
    await insertJobs(tx, this.#deps.jobInsert, [job]);
  }

  async listDue(limit: number): Promise<readonly string[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        SELECT DISTINCT thread_id::text AS id FROM outbox_deliveries
        WHERE state = 'waiting' AND due_at < now() - ${IDLE_SECONDS}::int * interval '1 second' LIMIT ${limit}`,
    );
    return rows.map(({ id }) => id);
  }

  prunePaces(): Promise<number> {
    return this.#deps.database.query(pruneLimits);
  }
}

/**
 * Only the newest card of a run and the newest reaction to a message are shown. The newest one takes the time for which an
 * older one waited. One that was tried stays, because its message may have to be edited.
 */
async function replaceOld(tx: Tx, threadId: string): Promise<void> {
  await tx.$executeRaw`
    WITH newest AS (
      SELECT message_key, max(id) AS id FROM outbox_deliveries
      WHERE thread_id = ${threadId}::uuid AND state = 'waiting' AND message_key NOT LIKE 'message:%'
      GROUP BY message_key HAVING count(*) > 1),
    replaced AS (
      UPDATE outbox_deliveries older SET state = 'replaced' FROM newest
      WHERE older.thread_id = ${threadId}::uuid AND older.state = 'waiting' AND older.tries = 0
        AND older.message_key = newest.message_key AND older.id < newest.id
      RETURNING newest.id AS newest_id, older.due_at, older.reservation)
    UPDATE outbox_deliveries kept SET due_at = held.due_at, reservation = held.reservation
    FROM (SELECT DISTINCT ON (newest_id) * FROM replaced WHERE reservation IS NOT NULL
      ORDER BY newest_id, due_at) AS held
    WHERE kept.id = held.newest_id AND kept.reservation IS NULL AND kept.tries = 0`;
}

/**
 * In the order in which they are sent. A message that is not shown yet stands where its first notice stood, so that an
 * answer is not shown before the card of its run. Of several notices of one message, the older one comes first, so
 * that the newest one is what stays.
 */
function waitingIn(tx: Tx, threadId: string): Promise<WaitingRow[]> {
  return tx.$queryRaw<WaitingRow[]>`
    SELECT d.id, d.uid::text, d.message_key AS "messageKey", d.notice, d.tries, d.earlier_tries AS "earlierTries",
      d.run_id::text AS "runId", d.reservation, d.due_at AS "dueAt",
      extract(epoch FROM d.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", r.receipt,
      t.adapter, t.installation, t.key
    FROM outbox_deliveries d JOIN threads t ON t.id = d.thread_id
    LEFT JOIN receipts r ON r.thread_id = d.thread_id AND r.message_key = d.message_key
    WHERE d.thread_id = ${threadId}::uuid AND d.state = 'waiting'
    ORDER BY CASE WHEN r.receipt IS NOT NULL OR d.message_key LIKE 'message:%' THEN d.id ELSE
      (SELECT min(id) FROM outbox_deliveries WHERE thread_id = d.thread_id AND message_key = d.message_key) END,
      d.id
    LIMIT ${WAITING_MAX}`;
}

/** A card that was given up may be shown nevertheless. The next card with its message key must look for it. */
async function wasMessageTried(tx: Tx, threadId: string, { id, messageKey }: WaitingRow): Promise<boolean> {
  const where = { threadId, messageKey, id: { lt: id }, tries: { gt: 0 } };
  return (await tx.outboxDelivery.count({ where })) > 0;
}

/** Where the thread shows the question of a card as a message of its own. */
async function questionReceipt(tx: Tx, { notice, thread }: TakenDelivery): Promise<string | undefined> {
  const question = notice.kind === "card" ? notice.card.question : undefined;
  if (question === undefined) {
    return undefined;
  }
  const messageKey = questionKeyOf(question.permissionId);
  const where = { threadId_messageKey: { threadId: thread.id, messageKey } };
  return (await tx.receipt.findUnique({ where }))?.receipt;
}

function deliveryOf(row: WaitingRow, threadId: string): TakenDelivery {
  const { adapter, installation, key, uid: id } = row;
  return defined({
    id,
    adapter,
    thread: { id: threadId, installation, key },
    notice: parseJsonColumn(NOTICE, row.notice, { table: "outbox_deliveries", id, column: "notice" }),
    maybeShown: row.tries > 0,
    tries: row.tries - row.earlierTries,
    runId: row.runId === null ? undefined : row.runId,
    shownAt: row.receipt === null ? undefined : row.receipt,
  });
}

interface LimitRow extends PaceState {
  readonly key: string;
  readonly now: number;
}

interface LockedLimits {
  /** Milliseconds since 1970 by the clock of the database, which is the same for all workers. */
  readonly now: number;
  /** In the order of the limits. */
  readonly states: readonly { readonly limit: KeyedLimit; readonly state: PaceState }[];
}

/** Locks the states of the limits until the end of the transaction. All transactions lock them in the same order. */
async function lockLimits(tx: Tx, limits: readonly KeyedLimit[]): Promise<LockedLimits> {
  const keys = limits.map(({ key }) => key);
  const rows = await tx.$queryRaw<LimitRow[]>`
    INSERT INTO paces (key) SELECT key FROM unnest(${keys}::text[]) AS key ORDER BY key
    ON CONFLICT (key) DO UPDATE SET key = excluded.key
    RETURNING key, used_until AS "usedUntil", tentative_until AS "tentativeUntil", closed_until AS "closedUntil",
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;
  const states = limits.map((limit) => ({
    limit,
    state: rows.find(({ key }) => key === limit.key) ?? UNUSED,
  }));
  return { now: Math.max(0, ...rows.map(({ now }) => now)), states };
}

async function storeLimits(
  tx: Tx,
  limits: readonly KeyedLimit[],
  states: readonly PaceState[],
): Promise<void> {
  const rows = states.map(({ closedUntil, tentativeUntil, usedUntil }, index) => {
    return {
      key: limits[index]?.key,
      closed_until: closedUntil,
      tentative_until: tentativeUntil,
      used_until: usedUntil,
    };
  });
  await tx.$executeRaw`
    UPDATE paces SET used_until = row.used_until, tentative_until = row.tentative_until, closed_until = row.closed_until
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS row (key text, used_until float8, tentative_until float8, closed_until float8)
    WHERE paces.key = row.key`;
}

async function closeLimits(tx: Tx, limits: readonly KeyedLimit[], forMs: number): Promise<void> {
  if (limits.length === 0) {
    return;
  }
  const { now, states } = await lockLimits(tx, limits);
  const closed = states.map(({ limit, state }) => closedPace(limit, state, now + forMs));
  await storeLimits(tx, limits, closed);
}

function pruneLimits(client: Pick<Tx, "$executeRaw">): Promise<number> {
  return client.$executeRaw`
    DELETE FROM paces WHERE greatest(used_until, tentative_until, closed_until)
      < extract(epoch FROM clock_timestamp())::float8 * 1000 - 3600000`;
}
