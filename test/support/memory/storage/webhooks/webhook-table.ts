import type { WebhookEndpoint } from "../../../../../src/core/model/webhooks/webhook.ts";
import type { Tables, WebhookRow } from "../tables.ts";

/** What endpoints are called among the records. */
export const ENDPOINTS = "webhook";

export function endpointIn({ records }: Tables, id: string): WebhookEndpoint | undefined {
  return records.get(`${ENDPOINTS} ${id}`) as WebhookEndpoint | undefined;
}

/** Deliveries go with their endpoint. */
export function rowsIn(tables: Tables): WebhookRow[] {
  return [...tables.webhooks.values()].filter(
    ({ endpointId }) => endpointIn(tables, endpointId) !== undefined,
  );
}

/** Whether both tell the same endpoint of the same run, `later` of what came later. */
export function isBehind(later: WebhookRow, { about, endpointId }: WebhookRow): boolean {
  if (later.endpointId !== endpointId || later.about === undefined || about === undefined) {
    return false;
  }
  return later.about.runId === about.runId && later.about.seq > about.seq;
}
