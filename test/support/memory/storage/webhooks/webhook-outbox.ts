import type { NewWebhookDelivery, WebhookEndpoint } from "../../../../../src/core/model/webhooks/webhook.ts";
import { CHANNELS } from "../../../../../src/core/ports/pubsub.ts";
import type {
  CompletedTry,
  TakenWebhook,
  WebhookOutbox,
} from "../../../../../src/core/ports/stores/webhook-stores.ts";
import type { InMemoryStatements, Tx } from "../in-memory-database.ts";
import type { WebhookRow } from "../tables.ts";
import { endpointIn, isBehind, rowsIn } from "./webhook-table.ts";

const TAKEN_MS = 60_000;

export class InMemoryWebhookOutbox implements WebhookOutbox {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(deliveries: readonly NewWebhookDelivery[]): Promise<void> {
    return this.#database.transaction(({ now, tables, channels }) => {
      if (deliveries.length > 0) {
        channels.push(CHANNELS.webhooks);
      }
      for (const delivery of deliveries) {
        const fresh = {
          state: "waiting",
          tries: 0,
          step: 0,
          dueAt: now,
          createdAt: now,
          history: [],
        } as const;
        const isTold = rowsIn(tables).some((row) => isSame(row, delivery));
        if (!isTold) {
          tables.webhooks.set(delivery.id, { ...delivery, ...fresh });
        }
      }
    });
  }

  take(busy: readonly string[]): Promise<TakenWebhook | undefined> {
    return this.#database.transaction((tx) => {
      const waiting = rowsIn(tx.tables).filter(({ state }) => state === "waiting");
      const row = waiting
        .filter(({ dueAt, endpointId }) => dueAt <= tx.now && !busy.includes(endpointId))
        .filter(({ endpointId }) => endpointIn(tx.tables, endpointId)?.enabled)
        .sort((a, b) => a.dueAt - b.dueAt)
        .find((row) => !waiting.some((earlier) => isBehind(row, earlier)));
      return row && taken(tx, row);
    });
  }

  hasWaiting(): Promise<boolean> {
    return this.#database.read((tables) => rowsIn(tables).some(({ state }) => state === "waiting"));
  }

  lock(endpointId: string): Promise<WebhookEndpoint | undefined> {
    return this.#database.read((tables) => endpointIn(tables, endpointId));
  }

  complete({ id, number }: TakenWebhook, { retryAfterMs = 0, state, tried }: CompletedTry): Promise<boolean> {
    return this.#database.transaction(({ now, tables }) => {
      const row = rowsIn(tables).find(
        (row) => row.id === id && row.state === "waiting" && row.tries === number,
      );
      if (row === undefined) {
        return false;
      }
      const history = [...row.history, { ...tried, number, at: new Date(now) }];
      const { error: _error, settledAt: _settledAt, ...rest } = { ...row, history, state };
      const dueAt = state === "waiting" ? now + retryAfterMs : now;
      const end = state === "waiting" ? {} : { settledAt: now };
      const error = tried.error === undefined ? {} : { error: tried.error };
      tables.webhooks.set(id, { ...rest, ...error, ...end, dueAt });
      for (const later of rowsIn(tables).filter((later) => isBehind(later, row))) {
        if (later.state === "waiting" && later.step === 0) {
          tables.webhooks.set(later.id, { ...later, dueAt });
        }
      }
      return true;
    });
  }

  giveUp(endpointId: string, error: string): Promise<void> {
    return this.#database.transaction(({ now, tables }) => {
      for (const row of rowsIn(tables)) {
        if (row.endpointId !== endpointId || row.state !== "waiting") {
          continue;
        }
        tables.webhooks.set(row.id, { ...row, state: "dead", error, settledAt: now });
      }
    });
  }
}

function isSame(row: WebhookRow, { about, endpointId }: NewWebhookDelivery): boolean {
  if (about === undefined || row.endpointId !== endpointId) {
    return false;
  }
  return row.about?.runId === about.runId && row.about.seq === about.seq;
}

function taken({ now, tables }: Tx, row: WebhookRow): TakenWebhook | undefined {
  const endpoint = endpointIn(tables, row.endpointId);
  if (endpoint === undefined) {
    return undefined;
  }
  const [number, step] = [row.tries + 1, row.step + 1];
  tables.webhooks.set(row.id, { ...row, tries: number, step, dueAt: now + TAKEN_MS });
  const { about, body, endpointId, id, type } = row;
  return { id, endpointId, type, body, ...(about && { about }), endpoint, number, step };
}
