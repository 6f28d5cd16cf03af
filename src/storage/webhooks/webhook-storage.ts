import type { WebhookEndpoint } from "../../core/model/webhooks/webhook.ts";
import type { WebhookStorage } from "../../core/ports/stores/webhook-stores.ts";
import type { Statements } from "../database.ts";
import type { WebhookEndpoint as EndpointRow } from "../generated/client.ts";
import { PrismaRecordStore } from "../record-store.ts";
import type { StoreDeps } from "../store-deps.ts";
import { PrismaWebhookHistory } from "./webhook-history.ts";
import { PrismaWebhookLog, passOver } from "./webhook-log.ts";
import { PrismaWebhookOutbox } from "./webhook-outbox.ts";
import { endpointColumns, endpointOf } from "./webhook-rows.ts";

type Columns = ReturnType<typeof endpointColumns>;

export function createWebhookStorage({
  database,
  pubsub,
}: Pick<StoreDeps, "database" | "pubsub">): WebhookStorage {
  return {
    endpoints: new PrismaWebhookEndpoints(database),
    runEndpoints: {
      list: async (runIds) => {
        const where = { runId: { in: [...runIds] } };
        const rows = await database.query((client) => client.webhookEndpoint.findMany({ where }));
        return rows.map(endpointOf);
      },
    },
    log: new PrismaWebhookLog(database),
    outbox: new PrismaWebhookOutbox(database, pubsub),
    history: new PrismaWebhookHistory(database, pubsub),
  };
}

/**
 * Without an enabled endpoint the cursor stays behind the log. An endpoint that is the first one must not receive what happened
 * before.
 */
class PrismaWebhookEndpoints extends PrismaRecordStore<WebhookEndpoint, EndpointRow, Columns> {
  readonly #database: Statements;

  constructor(database: Statements) {
    super(database, {
      table: (client) => client.webhookEndpoint,
      columnsOf: endpointColumns,
      recordOf: endpointOf,
      listed: { runId: null },
    });
    this.#database = database;
  }

  override async add(endpoint: WebhookEndpoint): Promise<void> {
    await this.#database.transaction(passOver);
    return super.add(endpoint);
  }

  override async replace(endpoint: WebhookEndpoint, seenAt?: Date): Promise<boolean> {
    if (endpoint.enabled) {
      await this.#database.transaction(passOver);
    }
    return super.replace(endpoint, seenAt);
  }
}
