import { z } from "zod";
import type {
  NewWebhookDelivery,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookSecret,
  WebhookTry,
} from "../../core/model/webhooks/webhook.ts";
import type {
  WebhookDelivery as DeliveryRow,
  WebhookEndpoint as EndpointRow,
  WebhookTry as TryRow,
} from "../generated/client.ts";
import { type MembersOf, time } from "../json-columns.ts";
import { parseJsonColumn, toJson, withoutNulls } from "../rows.ts";

const WEBHOOK_SECRETS: z.ZodType<readonly WebhookSecret[]> = z.array(
  z.looseObject({
    sealed: z.string(),
    expiresAt: z.exactOptional(time),
  } satisfies MembersOf<WebhookSecret>),
);

/** The team of an endpoint that was deleted. */
export const NOBODY = "00000000-0000-0000-0000-000000000000";

/** Rows of webhooks to the domain and back. */
export function endpointOf({ secrets, ...row }: EndpointRow): WebhookEndpoint {
  const location = { table: "webhook_endpoints", id: row.id, column: "secrets" } as const;
  return withoutNulls<WebhookEndpoint>({
    ...row,
    secrets: parseJsonColumn(WEBHOOK_SECRETS, secrets, location),
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
  const about = runId === null || seq === null ? {} : { about: { runId, seq } };
  return { id, endpointId, type, body, ...about };
}

export function deliveryOf(row: DeliveryRow): WebhookDelivery {
  const { state, tries, error, dueAt, createdAt, completedAt: settledAt } = row;
  const rest = { state, tries, error, createdAt, settledAt, dueAt: state === "waiting" ? dueAt : null };
  return { ...newDeliveryOf(row), ...withoutNulls<Omit<WebhookDelivery, keyof NewWebhookDelivery>>(rest) };
}

export function tryOf({ number, at, durationMs, status, error }: TryRow): WebhookTry {
  return withoutNulls<WebhookTry>({ number, at, durationMs, status, error });
}
