import { questionKeyOf } from "../../../../src/core/model/threads/notice.ts";
import type {
  HeldMessage,
  KeyedLimit,
  LimitsOf,
  OutboxStore,
  TakenDelivery,
} from "../../../../src/core/ports/stores/outbox-store.ts";
import type { Receipt } from "../../../../src/core/ports/thread-adapter.ts";
import {
  closedPace,
  decidePace,
  isProgress,
  LONG_WAIT_MS,
  UNUSED,
  writeKindOf,
} from "../../../../src/core/threads/outbox/pace.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import { IDLE_MS } from "./lease-store.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

const PACE_KEPT_MS = 3_600_000;

export class InMemoryOutboxStore implements OutboxStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  take(threadId: string, limitsOf: LimitsOf = () => []): Promise<TakenDelivery | undefined> {
    return this.#database.transaction((tx) => {
      const { tables } = tx;
      replaceOld(tables, threadId);
      const passed = new Set<string>();
      let behind: HeldMessage | undefined;
      for (const row of waitingIn(tables, threadId)) {
        if (passed.has(row.messageKey)) {
          continue;
        }
        const delivery = deliveryOf(tables, row);
        const limits = limitsOf(delivery);
        const isPost = writeKindOf(delivery) === "post";
        if (behind !== undefined && isPost) {
          continue;
        }
        const wait = waitOf(tx, row, delivery, limits);
        if (wait === undefined) {
          tables.deliveries.set(row.id, { ...row, tries: row.tries + 1 });
          return { ...delivery, ...(behind === undefined ? {} : { behind }) };
        }
        if (isPost && !isProgress(delivery, limits)) {
          if (wait.until === undefined) {
            return undefined;
          }
          behind = { notice: row.notice, until: wait.until };
        }
        passed.add(row.messageKey);
      }
      return undefined;
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

  failed(
    deliveryId: string,
    error: string,
    retryAfterMs?: number,
    closed: readonly KeyedLimit[] = [],
  ): Promise<void> {
    return this.#database.transaction(({ tables, jobs, now }) => {
      for (const limit of closed) {
        const state = tables.paces.get(limit.key) ?? UNUSED;
        tables.paces.set(limit.key, closedPace(limit, state, now + (retryAfterMs ?? 0)));
      }
      const found = tables.deliveries.get(deliveryId);
      if (found?.state !== "waiting") {
        return;
      }
      const { reservation: _before, ...others } = found;
      const row = { ...others, error };
      if (retryAfterMs === undefined) {
        tables.deliveries.set(row.id, { ...row, state: "dead" });
        return;
      }
      const kept = closed.length === 0 ? {} : ({ reservation: "firm" } as const);
      tables.deliveries.set(row.id, { ...row, ...kept, dueAt: now + retryAfterMs });
      jobs.push({ kind: "deliver", key: row.threadId, afterMs: retryAfterMs });
    });
  }

  dropped(deliveryId: string): Promise<void> {
    return this.#database.transaction(({ tables: { deliveries } }) => {
      const found = deliveries.get(deliveryId);
      if (found?.state === "waiting") {
        deliveries.set(deliveryId, { ...found, state: "replaced" });
      }
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

  prunePaces(): Promise<number> {
    return this.#database.transaction(({ now, tables: { paces } }) => {
      const unused = [...paces].filter(([, state]) => Math.max(...Object.values(state)) < now - PACE_KEPT_MS);
      for (const [key] of unused) {
        paces.delete(key);
      }
      return unused.length;
    });
  }
}

/** Undefined: it may go. Otherwise `until` says how long a limit holds it back, if that is long. */
function waitOf(
  { jobs, now, tables }: Tx,
  row: DeliveryRow,
  delivery: TakenDelivery,
  limits: readonly KeyedLimit[],
): { readonly until?: Date } | undefined {
  const progress = isProgress(delivery, limits);
  const reservation = !progress && row.reservation === "tentative" ? undefined : row.reservation;
  const isHeldForProgress = row.reservation !== reservation;
  if (row.dueAt > now && !isHeldForProgress) {
    return row.reservation === undefined ? {} : longWait(row.dueAt, now);
  }
  const states = limits.map((limit) => ({ limit, state: tables.paces.get(limit.key) ?? UNUSED }));
  const answer = decidePace(states, { now, isProgress: progress, reservation });
  for (const [index, state] of answer.states.entries()) {
    tables.paces.set(limits[index]?.key ?? "", state);
  }
  if (answer.isDropped === true) {
    tables.deliveries.set(row.id, { ...row, state: "replaced" });
    return {};
  }
  if (answer.wait === undefined) {
    return undefined;
  }
  const { until, reservation: made } = answer.wait;
  tables.deliveries.set(row.id, { ...row, dueAt: until, reservation: made });
  jobs.push({ kind: "deliver", key: row.threadId, afterMs: until - now });
  return longWait(until, now);
}

function longWait(until: number, now: number): { readonly until?: Date } {
  return until - now >= LONG_WAIT_MS ? { until: new Date(until) } : {};
}

/**
 * Only the newest card of a run and the newest reaction to a message are shown. The newest one takes the time for which an
 * older one waited. One that was tried is not replaced, because it may be the message that must be edited.
 */
function replaceOld(tables: Tables, threadId: string): void {
  const rows = waitingIn(tables, threadId).filter(({ notice }) => notice.kind !== "message");
  for (const ofMessage of Map.groupBy(rows, ({ messageKey }) => messageKey).values()) {
    const newest = ofMessage.at(-1);
    for (const older of ofMessage.slice(0, -1).filter(({ tries }) => tries === 0)) {
      tables.deliveries.set(older.id, { ...older, state: "replaced" });
      const kept = newest && tables.deliveries.get(newest.id);
      if (kept !== undefined && kept.reservation === undefined && older.reservation !== undefined) {
        tables.deliveries.set(kept.id, { ...kept, dueAt: older.dueAt, reservation: older.reservation });
      }
    }
  }
}

/** A message that is not shown yet stands where its first notice stood. */
function waitingIn({ deliveries, receipts }: Tables, threadId: string): DeliveryRow[] {
  const rows = [...deliveries.values()].filter((row) => row.threadId === threadId);
  const placeAmongRows = (row: DeliveryRow) =>
    receipts.has(placeOf(row))
      ? rows.indexOf(row)
      : rows.findIndex(({ messageKey }) => messageKey === row.messageKey);
  return rows
    .filter(({ state }) => state === "waiting")
    .toSorted((a, b) => placeAmongRows(a) - placeAmongRows(b));
}

/** A card that was given up may still have been posted. So the next card with its message key must look for it. */
function wasSlotTried({ deliveries }: Tables, row: DeliveryRow): boolean {
  return [...deliveries.values()].some(
    ({ id, messageKey, threadId, tries }) =>
      threadId === row.threadId && messageKey === row.messageKey && id !== row.id && tries > 0,
  );
}

function placeOf({ threadId, messageKey }: Pick<DeliveryRow, "threadId" | "messageKey">): string {
  return `${threadId} ${messageKey}`;
}

function deliveryOf(tables: Tables, row: DeliveryRow): TakenDelivery {
  const thread = tables.threads.get(row.threadId);
  if (thread === undefined) {
    throw new Error("There is no such thread.");
  }
  const { id, adapter, installation, key } = thread;
  const shownAt = tables.receipts.get(placeOf(row));
  const question = row.notice.kind === "card" ? row.notice.card.question : undefined;
  const messageKey = questionKeyOf(question?.permissionId ?? "");
  const questionShownAt = tables.receipts.get(placeOf({ threadId: row.threadId, messageKey }));
  return {
    id: row.id,
    adapter,
    thread: { id, installation, key },
    notice: row.notice,
    maybeShown: row.tries > 0 || (shownAt === undefined && wasSlotTried(tables, row)),
    tries: row.tries - row.earlierTries,
    ...(row.runId === undefined ? {} : { runId: row.runId }),
    ...(shownAt === undefined ? {} : { shownAt }),
    ...(questionShownAt === undefined ? {} : { questionShownAt }),
  };
}
