import type { RunEvent } from "../../../../../src/core/model/runs/events.ts";
import { isStateChange, type WebhookEndpoint } from "../../../../../src/core/model/webhooks/webhook.ts";
import type { RecordStore } from "../../../../../src/core/ports/stores/record-store.ts";
import type {
  LogPart,
  VisibleEvent,
  WebhookStorage,
} from "../../../../../src/core/ports/stores/webhook-stores.ts";
import type { InMemoryStatements } from "../in-memory-database.ts";
import { InMemoryRecordStore } from "../record-store.ts";
import type { Tables } from "../tables.ts";
import { InMemoryWebhookHistory } from "./webhook-history.ts";
import { InMemoryWebhookOutbox } from "./webhook-outbox.ts";
import { ENDPOINTS } from "./webhook-table.ts";

/** The in-memory fake. Its reader of the log begins where the log does. */
export function createInMemoryWebhookStorage(database: InMemoryStatements): WebhookStorage {
  return {
    endpoints: teamEndpoints(new InMemoryRecordStore<WebhookEndpoint>(database, ENDPOINTS)),
    runEndpoints: {
      list: (runIds) =>
        database.read(({ records }) =>
          [...records.entries()]
            .filter(([place]) => place.startsWith(`${ENDPOINTS} `))
            .map(([, record]) => record as WebhookEndpoint)
            .filter(({ runId }) => runId !== undefined && runIds.includes(runId)),
        ),
    },
    log: { next: (limit) => database.transaction(({ tables }) => readOn(tables, limit)) },
    outbox: new InMemoryWebhookOutbox(database),
    history: new InMemoryWebhookHistory(database),
  };
}

/** The endpoint of a run is not one of its team's. */
function teamEndpoints(endpoints: RecordStore<WebhookEndpoint>): RecordStore<WebhookEndpoint> {
  return {
    add: (endpoint) => endpoints.add(endpoint),
    find: async (teamId, id) => {
      const endpoint = await endpoints.find(teamId, id);
      return endpoint?.runId === undefined ? endpoint : undefined;
    },
    list: async (teamId) => (await endpoints.list(teamId)).filter(({ runId }) => runId === undefined),
    replace: (endpoint, seenAt) => endpoints.replace(endpoint, seenAt),
    remove: (teamId, id) => endpoints.remove(teamId, id),
  };
}

function readOn(tables: Tables, limit: number): LogPart {
  const part = tables.log.slice(tables.logTold, tables.logTold + limit).map(({ event }) => event);
  tables.logTold += part.length;
  const stateChanges = part.filter(isToldEvent).flatMap((event) => {
    const run = tables.runs.get(event.runId)?.run;
    return run === undefined ? [] : [{ run, event }];
  });
  return { stateChanges, hasMore: part.length === limit };
}

function isToldEvent(event: RunEvent): event is VisibleEvent {
  return isStateChange(event.body);
}
