import type { RunId, ThreadKey } from "../core/ids.ts";
import type { OutboxStore, TakenDelivery } from "../core/outbox/outbox-store.ts";
import type { Receipt } from "../core/threads/thread-adapter.ts";
import type { Tx } from "./database.ts";
import type { OutboxDelivery, Thread } from "./generated/client.ts";
import { insertJobs } from "./insert-jobs.ts";
import { NOTICE } from "./json-columns.ts";
import { IDLE_SECONDS } from "./lease-store.ts";
import { parseJsonColumn } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

export class PrismaOutboxStore implements OutboxStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async take(threadId: string): Promise<TakenDelivery | undefined> {
    return this.#deps.database.transaction(async (tx) => {
      // One writer per thread. A second one, of a worker that was taken for dead, waits here and then sees what was
      // taken.
      await tx.$queryRaw`SELECT 1 FROM threads WHERE id = ${threadId}::uuid FOR UPDATE`;
      await replaceOldCards(tx, threadId);
      const first = await tx.outboxDelivery.findFirst({
        where: { threadId, state: "waiting" },
        orderBy: { id: "asc" },
        include: { thread: true },
      });
      if (first === null || !(await isDue(tx, first.id))) {
        return undefined;
      }
      await tx.outboxDelivery.update({ where: { id: first.id }, data: { tries: { increment: 1 } } });
      const where = { threadId_messageKey: { threadId, messageKey: first.messageKey } };
      const receipt = await tx.receipt.findUnique({ where });
      const isTried = first.tries > 0 || (receipt === null && (await wasMessageTried(tx, first)));
      return deliveryOf(first, isTried, receipt?.receipt);
    });
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

  async failed(deliveryId: string, error: string, retryAfterMs?: number): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      const state = retryAfterMs === undefined ? "dead" : "waiting";
      // Another worker may have sent it meanwhile. Sending it again would show outdated content.
      const where = { uid: deliveryId, state: "waiting" };
      const [row] = await tx.outboxDelivery.updateManyAndReturn({ where, data: { state, error } });
      if (row === undefined || retryAfterMs === undefined) {
        return;
      }
      await tx.$executeRaw`
        UPDATE outbox_deliveries
        SET due_at = clock_timestamp() + ${Math.ceil(retryAfterMs)}::int * interval '1 millisecond'
        WHERE id = ${row.id}`;
      await insertJobs(tx, this.#deps.jobInsert, [
        { kind: "deliver", key: row.threadId, afterMs: retryAfterMs },
      ]);
    });
  }

  async listDue(limit: number): Promise<readonly string[]> {
    const rows = await this.#deps.database.query(
      (client) => client.$queryRaw<{ id: string }[]>`
        SELECT DISTINCT thread_id::text AS id FROM outbox_deliveries
        WHERE state = 'waiting' AND due_at < now() - ${IDLE_SECONDS}::int * interval '1 second' LIMIT ${limit}`,
    );
    return rows.map(({ id }) => id);
  }
}

/** Only the newest card of a run is shown. A card that was tried stays, because its message may have to be edited. */
async function replaceOldCards(tx: Tx, threadId: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE outbox_deliveries older SET state = 'replaced'
    WHERE older.thread_id = ${threadId}::uuid AND older.state = 'waiting' AND older.tries = 0
      AND older.message_key LIKE 'card:%'
      AND EXISTS (SELECT 1 FROM outbox_deliveries newer
        WHERE newer.thread_id = older.thread_id AND newer.message_key = older.message_key
          AND newer.state = 'waiting' AND newer.id > older.id)`;
}

/** A card that was given up may be shown nevertheless. The next card with its message key must look for it. */
async function wasMessageTried(tx: Tx, { id, messageKey, threadId }: OutboxDelivery): Promise<boolean> {
  const where = { threadId, messageKey, id: { lt: id }, tries: { gt: 0 } };
  return (await tx.outboxDelivery.count({ where })) > 0;
}

async function isDue(tx: Tx, id: bigint): Promise<boolean> {
  const rows = await tx.$queryRaw<{ due: boolean }[]>`
    SELECT due_at <= clock_timestamp() AS due FROM outbox_deliveries WHERE id = ${id}`;
  return rows[0]?.due ?? false;
}

function deliveryOf(
  row: OutboxDelivery & { thread: Thread },
  maybeShown: boolean,
  receipt: string | undefined,
): TakenDelivery {
  const { id, installation, key, adapter } = row.thread;
  return {
    id: row.uid,
    adapter,
    thread: { id, installation, key: key as ThreadKey },
    notice: parseJsonColumn(NOTICE, row.notice, {
      table: "outbox_deliveries",
      id: row.uid,
      column: "notice",
    }),
    maybeShown,
    tries: row.tries - row.earlierTries,
    ...(row.runId === null ? {} : { runId: row.runId as RunId }),
    ...(receipt === undefined ? {} : { shownAt: receipt }),
  };
}
