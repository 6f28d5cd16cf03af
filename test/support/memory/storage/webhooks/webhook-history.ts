import type { WebhookDelivery } from "../../../../../src/core/model/webhooks/webhook.ts";
import { CHANNELS } from "../../../../../src/core/ports/pubsub.ts";
import type {
  ReplayedDeliveries,
  TriedWebhook,
  WebhookDeliveryQuery,
  WebhookHistory,
} from "../../../../../src/core/ports/stores/webhook-stores.ts";
import type { InMemoryStatements } from "../in-memory-database.ts";
import type { WebhookRow } from "../tables.ts";
import { ENDPOINTS, endpointIn, rowsIn } from "./webhook-table.ts";

export class InMemoryWebhookHistory implements WebhookHistory {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  list({ after, endpointId, limit, state }: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]> {
    return this.#database.read((tables) =>
      rowsIn(tables)
        .filter((row) => row.endpointId === endpointId && (state === undefined || row.state === state))
        .filter(({ id }) => after === undefined || id < after)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map(deliveryOf),
    );
  }

  find(endpointId: string, id: string): Promise<TriedWebhook | undefined> {
    return this.#database.read((tables) => {
      const row = rowsIn(tables).find((row) => row.id === id && row.endpointId === endpointId);
      return row && { ...deliveryOf(row), history: row.history };
    });
  }

  replay(endpointId: string, which: ReplayedDeliveries, limit: number): Promise<number> {
    return this.#database.transaction(({ now, tables, channels }) => {
      channels.push(CHANNELS.webhooks);
      const mine = rowsIn(tables).filter((row) => row.endpointId === endpointId && isChosen(row, which));
      const chosen = mine.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      for (const { error: _error, settledAt: _settledAt, ...row } of chosen) {
        tables.webhooks.set(row.id, { ...row, state: "waiting", step: 0, dueAt: now });
      }
      return chosen.length;
    });
  }

  detach(endpointId: string): Promise<void> {
    return this.#database.transaction(
      ({ tables }) => void tables.records.delete(`${ENDPOINTS} ${endpointId}`),
    );
  }

  prune(olderThanMs: number, limit: number): Promise<boolean> {
    return this.#database.transaction(({ now, tables }) => {
      const all = [...tables.webhooks.values()];
      const isOld = ({ createdAt, state }: WebhookRow) =>
        state !== "waiting" && createdAt < now - olderThanMs;
      const isForgotten = ({ endpointId }: WebhookRow) => endpointIn(tables, endpointId) === undefined;
      const removed = [all.filter(isOld).slice(0, limit), all.filter(isForgotten).slice(0, limit)];
      for (const { id } of removed.flat()) {
        tables.webhooks.delete(id);
      }
      const hopeless = rowsIn(tables)
        .filter((row) => row.state === "waiting" && endpointIn(tables, row.endpointId)?.enabled === false)
        .slice(0, limit);
      const end = { state: "dead", error: "The endpoint was switched off.", settledAt: now } as const;
      for (const row of hopeless) {
        tables.webhooks.set(row.id, { ...row, ...end });
      }
      return [...removed, hopeless].some(({ length }) => length === limit);
    });
  }
}

function isChosen({ createdAt, id, state }: WebhookRow, which: ReplayedDeliveries): boolean {
  if ("id" in which) {
    return id === which.id;
  }
  const { since, until } = which;
  if (state !== "dead" || createdAt < since.getTime()) {
    return false;
  }
  return until === undefined || createdAt < until.getTime();
}

function deliveryOf({
  createdAt,
  dueAt,
  history: _history,
  settledAt,
  step: _step,
  ...row
}: WebhookRow): WebhookDelivery {
  return {
    ...row,
    createdAt: new Date(createdAt),
    ...(row.state === "waiting" && { dueAt: new Date(dueAt) }),
    ...(settledAt !== undefined && { settledAt: new Date(settledAt) }),
  };
}
