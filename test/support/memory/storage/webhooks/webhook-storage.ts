import type { RunEvent } from "../../../../../src/core/runs/events.ts";
import { isStateChange } from "../../../../../src/core/webhooks/event-types.ts";
import type { WebhookEndpoint } from "../../../../../src/core/webhooks/webhook-endpoint.ts";
import type { VisibleEvent } from "../../../../../src/core/webhooks/webhook-message.ts";
import type { LogPart, WebhookStorage } from "../../../../../src/core/webhooks/webhook-stores.ts";
import type { InMemoryStatements } from "../in-memory-database.ts";
import { InMemoryRecordStore } from "../record-store.ts";
import type { Tables } from "../tables.ts";
import { InMemoryWebhookHistory } from "./webhook-history.ts";
import { InMemoryWebhookOutbox } from "./webhook-outbox.ts";
import { ENDPOINTS } from "./webhook-table.ts";

/** The twin. Its reader of the log begins where the log does. */
export function createInMemoryWebhookStorage(database: InMemoryStatements): WebhookStorage {
  return {
    endpoints: new InMemoryRecordStore<WebhookEndpoint>(database, ENDPOINTS),
    log: { next: (limit) => database.transaction(({ tables }) => readOn(tables, limit)) },
    outbox: new InMemoryWebhookOutbox(database),
    history: new InMemoryWebhookHistory(database),
  };
}

function readOn(tables: Tables, limit: number): LogPart {
  const part = tables.log.slice(tables.logTold, tables.logTold + limit).map(({ event }) => event);
  tables.logTold += part.length;
  const stateChanges = part.filter(isToldEvent).flatMap((event) => {
    const run = tables.runs.get(event.runId)?.run;
    return run?.teamOwned ? [{ run, event }] : [];
  });
  return { stateChanges, hasMore: part.length === limit };
}

function isToldEvent(event: RunEvent): event is VisibleEvent {
  return isStateChange(event.body);
}
