import type { Settlement } from "../core/intake/settlement.ts";
import { TOPICS } from "../core/ports/news.ts";
import type { InboxStore, Saying } from "../core/ports/storage.ts";
import type { InboxEvent } from "../core/ports/thread-adapter.ts";
import { addNotices, makeThread, settleEvent } from "./change-rows.ts";
import type { Tx } from "./database.ts";
import { IDLE_SECONDS } from "./lease-store.ts";
import type { StoreParts } from "./store-parts.ts";

export class PrismaInboxStore implements InboxStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async put({ id, adapter, lane, deliveryId, name, body }: InboxEvent): Promise<boolean> {
    const stored = await this.#parts.database.transaction(async (tx) => {
      const row = { id, adapter, lane, deliveryId, name, body };
      const { count } = await tx.inboxEvent.createMany({ data: [row], skipDuplicates: true });
      if (count === 1) await this.#parts.sendJobs(tx, [{ kind: "inbox", key: lane }]);
      return count === 1;
    });
    if (stored) this.#parts.news.tell([TOPICS.jobs("inbox")]);
    return stored;
  }

  async next(lane: string): Promise<InboxEvent | undefined> {
    const query = { where: { lane, disposition: null }, orderBy: { seq: "asc" } } as const;
    const row = await this.#parts.database.query((client) => client.inboxEvent.findFirst(query));
    if (row === null) return undefined;
    const { id, adapter, deliveryId, name, body, receivedAt } = row;
    return { id, adapter, lane, deliveryId, name, body, receivedAt };
  }

  async settle(settlement: Settlement, says?: Saying): Promise<void> {
    await this.#parts.database.transaction(async (tx) => {
      await settleEvent(tx, settlement);
      if (says === undefined || !(await isNews(tx, settlement, says))) return;
      const { thread, notices } = says;
      await makeThread(tx, thread);
      await addNotices(
        tx,
        notices.map((notice) => ({ threadId: thread.id, notice })),
      );
      await this.#parts.sendJobs(tx, [{ kind: "deliver", key: thread.id }]);
    });
    if (says !== undefined) this.#parts.news.tell([TOPICS.jobs("deliver")]);
  }

  async countFailure(id: string, error: string): Promise<number> {
    const row = await this.#parts.database.query((client) =>
      client.inboxEvent.update({ where: { id }, data: { failures: { increment: 1 }, reason: error } }),
    );
    return row.failures;
  }

  async listOpenLanes(limit: number): Promise<readonly string[]> {
    const rows = await this.#parts.database.query(
      (client) => client.$queryRaw<{ lane: string }[]>`
        SELECT DISTINCT lane FROM inbox_events
        WHERE disposition IS NULL AND received_at < now() - ${IDLE_SECONDS}::int * interval '1 second'
        LIMIT ${limit}`,
    );
    return rows.map(({ lane }) => lane);
  }
}

async function isNews(tx: Tx, { inboxId }: Settlement, { once }: Saying): Promise<boolean> {
  if (once === undefined) return true;
  const data = [{ meaning: once, inboxId }];
  return (await tx.inboundMeaning.createMany({ data, skipDuplicates: true })).count === 1;
}
