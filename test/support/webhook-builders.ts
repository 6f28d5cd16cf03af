import { newId, type PrincipalId } from "../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import {
  type NewWebhookDelivery,
  RUN_EVENT_TYPES,
  type WebhookEndpoint,
} from "../../src/core/model/webhooks/webhook.ts";

export function anEndpoint(changes: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  const createdAt = changes.createdAt ?? new Date("2026-03-01T11:00:00.000Z");
  return {
    id: newId(createdAt),
    teamId: FIRST_TEAM,
    url: "https://receiver.example/hook",
    events: [...RUN_EVENT_TYPES],
    enabled: true,
    secrets: [{ sealed: "sealed" }],
    createdBy: newId<PrincipalId>(createdAt),
    createdAt,
    updatedAt: createdAt,
    ...changes,
  };
}

export function aDelivery(
  endpoint: WebhookEndpoint,
  changes: Partial<NewWebhookDelivery> = {},
): NewWebhookDelivery {
  return {
    id: newId(new Date()),
    endpointId: endpoint.id,
    type: "run.succeeded",
    body: '{"type":"run.succeeded"}',
    ...changes,
  };
}
