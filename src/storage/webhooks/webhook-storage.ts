import type { WebhookStorage } from "../../core/ports/webhooks.ts";
import type { WebhookEndpoint } from "../../core/webhooks/webhook-endpoint.ts";
import type { WebhookEndpoint as EndpointRow } from "../generated/client.ts";
import { PrismaRecordStore } from "../record-store.ts";
import type { StoreParts } from "../store-parts.ts";
import { PrismaWebhookHistory } from "./webhook-history.ts";
import { PrismaWebhookLog } from "./webhook-log.ts";
import { PrismaWebhookOutbox } from "./webhook-outbox.ts";
import { endpointColumns, endpointOf } from "./webhook-rows.ts";

type Columns = ReturnType<typeof endpointColumns>;

export function createWebhookStorage({
  database,
  news,
}: Pick<StoreParts, "database" | "news">): WebhookStorage {
  return {
    endpoints: new PrismaRecordStore<WebhookEndpoint, EndpointRow, Columns>(database, {
      table: (client) => client.webhookEndpoint,
      columnsOf: endpointColumns,
      recordOf: endpointOf,
    }),
    log: new PrismaWebhookLog(database),
    outbox: new PrismaWebhookOutbox(database, news),
    history: new PrismaWebhookHistory(database, news),
  };
}
