import type { OutboxStore, TakenDelivery } from "../../../../src/core/outbox/outbox-store.ts";
import type { Receipt } from "../../../../src/core/threads/thread-adapter.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { IDLE_MS } from "./lease-store.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

export class InMemoryOutboxStore implements OutboxStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  take(threadId: string): Promise<TakenDelivery | undefined> {
    return this.#database.transaction(({ tables, now }) => {
      replaceOldCards(tables, threadId);
      const [first] = waitingIn(tables, threadId);
      if (first === undefined || first.dueAt > now) {
        return undefined;
      }
      tables.deliveries.set(first.id, { ...first, tries: first.tries + 1 });
      return deliveryOf(tables, first);
    });
  }

  sent(deliveryId: string, receipt: Receipt, permalink?: string): Promise<void> {
    return this.#database.transaction(({ now, tables }) => {
      const row = tables.deliveries.get(deliveryId);
      if (row === undefined) {
        return;
      }
      const { error: _error, ...rest } = row;
      const link = permalink === undefined ? {} : { permalink };
      tables.deliveries.set(row.id, { ...rest, ...link, state: "sent", deliveredAt: now });
      tables.receipts.set(placeOf(row), receipt);
    });
  }

  failed(deliveryId: string, error: string, retryAfterMs?: number): Promise<void> {
    return this.#database.transaction(({ tables, jobs, now }) => {
      const found = tables.deliveries.get(deliveryId);
      if (found?.state !== "waiting") {
        return;
      }
      const row = { ...found, error };
      if (retryAfterMs === undefined) {
        tables.deliveries.set(row.id, { ...row, state: "dead" });
        return;
      }
      tables.deliveries.set(row.id, { ...row, dueAt: now + retryAfterMs });
      jobs.push({ kind: "deliver", key: row.threadId, afterMs: retryAfterMs });
    });
  }

  listDue(limit: number): Promise<readonly string[]> {
    return this.#database.read(({ deliveries }, now) => {
      const due = [...deliveries.values()].filter(
        ({ state, dueAt }) => state === "waiting" && dueAt < now - IDLE_MS,
      );
      return [...new Set(due.map(({ threadId }) => threadId))].slice(0, limit);
    });
  }
}

/**
 * Only the newest card of a run is shown. A card that was tried is not replaced, because it may be the message that
 * must be edited.
 */
function replaceOldCards(tables: Tables, threadId: string): void {
  const cards = waitingIn(tables, threadId).filter(({ notice }) => notice.kind === "card");
  for (const [index, card] of cards.entries()) {
    const isOld = cards.slice(index + 1).some(({ messageKey }) => messageKey === card.messageKey);
    if (isOld && card.tries === 0) {
      tables.deliveries.set(card.id, { ...card, state: "replaced" });
    }
  }
}

function waitingIn({ deliveries }: Tables, threadId: string): DeliveryRow[] {
  return [...deliveries.values()].filter((row) => row.threadId === threadId && row.state === "waiting");
}

/** A card that was given up may still have been posted. So the next card with its message key must look for it. */
function wasSlotTried({ deliveries }: Tables, row: DeliveryRow): boolean {
  return [...deliveries.values()].some(
    ({ id, messageKey, threadId, tries }) =>
      threadId === row.threadId && messageKey === row.messageKey && id !== row.id && tries > 0,
  );
}

function placeOf({ threadId, messageKey }: DeliveryRow): string {
  return `${threadId} ${messageKey}`;
}

function deliveryOf(tables: Tables, row: DeliveryRow): TakenDelivery {
  const thread = tables.threads.get(row.threadId);
  if (thread === undefined) {
    throw new Error("There is no such thread.");
  }
  const { id, adapter, installation, key } = thread;
  const shownAt = tables.receipts.get(placeOf(row));
  return {
    id: row.id,
    adapter,
    thread: { id, installation, key },
    notice: row.notice,
    maybeShown: row.tries > 0 || (shownAt === undefined && wasSlotTried(tables, row)),
    tries: row.tries - row.earlierTries,
    ...(row.runId === undefined ? {} : { runId: row.runId }),
    ...(shownAt === undefined ? {} : { shownAt }),
  };
}
