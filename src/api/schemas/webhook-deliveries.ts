import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import {
  type WebhookDelivery as Delivery,
  type WebhookTry as Try,
  WEBHOOK_DELIVERY_STATES,
} from "../../core/model/webhooks/webhook.ts";
import type { TriedWebhook } from "../../core/ports/stores/webhook-stores.ts";
import { REPLAYED_AT_ONCE } from "../../core/team/webhooks/webhook-deliveries.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./page-info.ts";
import { TimeInput, Timestamp } from "./text.ts";
import { DELIVERY_DETAIL_EXAMPLE, DELIVERY_EXAMPLE, TRY_EXAMPLE } from "./webhooks.ts";

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

const DeliveryState = z.enum(WEBHOOK_DELIVERY_STATES).meta({
  id: "WebhookDeliveryState",
  description:
    "`waiting`: the next try is pending. `delivered`: the receiver accepted it. `dead`: all tries failed.",
  examples: ["delivered"],
});

const members = {
  id: z.uuid().describe("The delivery's id, and the header `webhook-id` of its messages."),
  webhook_id: z.uuid().describe("The webhook's id."),
  type: z.string().describe("The type of the message."),
  run_id: z.uuid().optional().describe("The run that the message is about."),
  seq: z.int().optional().describe("The event of the run that the message is about."),
  state: DeliveryState,
  tries: z.int().describe("The number of tries."),
  error: z.string().optional().describe("Why the last try failed, or why there are no more tries."),
  next_try_at: Timestamp.optional().describe("The earliest time of the next try."),
  created_at: Timestamp.describe("When the delivery was created."),
  settled_at: Timestamp.optional().describe("When the message was delivered or given up."),
};

export const WebhookDelivery = z.object(members).meta({
  id: "WebhookDelivery",
  description: "A message for a webhook and its result.",
  examples: [DELIVERY_EXAMPLE],
});
type WebhookDelivery = z.output<typeof WebhookDelivery>;

const WebhookTry = z
  .object({
    number: z.int().describe("1, 2, 3 …"),
    at: Timestamp.describe("When the try ended."),
    duration_ms: z.int().describe("The duration of the try."),
    status: z.int().optional().describe("The HTTP status of the response. Absent if there was no response."),
    error: z.string().optional().describe("Why the try failed."),
  })
  .meta({ id: "WebhookTry", description: "One try of a delivery.", examples: [TRY_EXAMPLE] });

export const WebhookDeliveryDetail = z
  .object({
    ...members,
    body: z.string().describe("The exact message."),
    history: z.array(WebhookTry).describe("All tries, the first one first."),
  })
  .meta({
    id: "WebhookDeliveryDetail",
    description: "A delivery with its message and its tries.",
    examples: [DELIVERY_DETAIL_EXAMPLE],
  });

export const ListWebhookDeliveriesQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe("The maximum number of deliveries."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page. Requires the same filters."),
  state: DeliveryState.optional().describe("Only deliveries in this state."),
});

export const ListWebhookDeliveriesResponse = z
  .object({
    deliveries: z.array(WebhookDelivery).describe("The newest delivery comes first."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListWebhookDeliveriesResponse",
    description: "A page of a webhook's deliveries.",
    examples: [{ deliveries: [DELIVERY_EXAMPLE], page_info: { has_next_page: false } }],
  });
export type ListWebhookDeliveriesResponse = z.output<typeof ListWebhookDeliveriesResponse>;

export const ReplayWebhookDeliveriesRequest = z
  .object({
    since: TimeInput.describe("Deliveries created at or after this time."),
    until: TimeInput.optional().describe("Deliveries created before this time."),
  })
  .meta({
    id: "ReplayWebhookDeliveriesRequest",
    description: "Selects dead deliveries to send again.",
    examples: [{ since: "2026-03-01T09:00:00Z" }],
  });

export const ReplayedWebhookDeliveries = z
  .object({
    count: z
      .int()
      .describe(
        `The number of deliveries that are sent again: at most ${REPLAYED_AT_ONCE}, the oldest first. Repeat the ` +
          "request for the rest.",
      ),
  })
  .meta({
    id: "ReplayedWebhookDeliveries",
    description: "The result of a replay.",
    examples: [{ count: 3 }],
  });

export function webhookDeliveryOf(delivery: Delivery): WebhookDelivery {
  const { about, dueAt, error, settledAt } = delivery;
  return {
    id: delivery.id,
    webhook_id: delivery.endpointId,
    type: delivery.type,
    ...(about === undefined ? {} : { run_id: about.runId, seq: about.seq }),
    state: delivery.state,
    tries: delivery.tries,
    ...defined({ error, next_try_at: dueAt?.toISOString() }),
    created_at: delivery.createdAt.toISOString(),
    ...defined({ settled_at: settledAt?.toISOString() }),
  };
}

export function webhookDeliveryDetailOf(delivery: TriedWebhook): z.output<typeof WebhookDeliveryDetail> {
  return { ...webhookDeliveryOf(delivery), body: delivery.body, history: delivery.history.map(tryOf) };
}

function tryOf({ at, durationMs, error, number, status }: Try): z.output<typeof WebhookTry> {
  return defined({ number, at: at.toISOString(), duration_ms: durationMs, status, error });
}
