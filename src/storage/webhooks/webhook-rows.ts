import type { PrincipalId, RunId, TeamId } from "../../core/basics/ids.ts";
import type {
  NewWebhookDelivery,
  WebhookDelivery,
  WebhookDeliveryState,
  WebhookEndpoint,
  WebhookEventType,
  WebhookMessageType,
  WebhookTry,
} from "../../core/model/webhooks/webhook.ts";
import type {
  WebhookDelivery as DeliveryRow,
  WebhookEndpoint as EndpointRow,
  WebhookTry as TryRow,
} from "../generated/client.ts";
import { WEBHOOK_SECRETS } from "../json-columns.ts";
import { parseJsonColumn, toJson, withoutNulls } from "../rows.ts";

/** The team of an endpoint that was deleted. */
export const NOBODY = "00000000-0000-0000-0000-000000000000";

/** Rows of webhooks to the domain and back. */
export function endpointOf({
  secrets,
  teamId,
  runId,
  createdBy,
  events,
  ...row
}: EndpointRow): WebhookEndpoint {
  return withoutNulls<WebhookEndpoint>({
    ...row,
    teamId: teamId as TeamId,
    runId: runId as RunId | null,
    createdBy: createdBy as PrincipalId,
    events: events as WebhookEventType[],
    secrets: parseJsonColumn(WEBHOOK_SECRETS, secrets, {
      table: "webhook_endpoints",
      id: row.id,
      column: "secrets",
    }),
  });
}

export function endpointColumns({
  description,
  disabledReason,
  failingSince,
  runId,
  secrets,
  ...endpoint
}: WebhookEndpoint) {
  return {
    ...endpoint,
    events: [...endpoint.events],
    description: description ?? null,
    disabledReason: disabledReason ?? null,
    failingSince: failingSince ?? null,
    runId: runId ?? null,
    secrets: toJson(secrets),
  };
}

export function deliveryColumns({ about, ...delivery }: NewWebhookDelivery) {
  return { ...delivery, runId: about?.runId ?? null, seq: about?.seq ?? null };
}

export function newDeliveryOf({ id, endpointId, runId, seq, type, body }: DeliveryRow): NewWebhookDelivery {
  const about = runId === null || seq === null ? {} : { about: { runId: runId as RunId, seq } };
  return { id, endpointId, type: type as WebhookMessageType, body, ...about };
}

export function deliveryOf(row: DeliveryRow): WebhookDelivery {
  const { state, tries, error, dueAt, createdAt, completedAt: settledAt } = row;
  const rest = { tries, error, createdAt, settledAt, dueAt: state === "waiting" ? dueAt : null };
  return {
    ...newDeliveryOf(row),
    ...withoutNulls<Omit<WebhookDelivery, keyof NewWebhookDelivery>>({
      ...rest,
      state: state as WebhookDeliveryState,
    }),
  };
}

export function tryOf({ number, at, durationMs, status, error }: TryRow): WebhookTry {
  return withoutNulls<WebhookTry>({ number, at, durationMs, status, error });
}
