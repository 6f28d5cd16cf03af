import type { RunId } from "../../basics/ids.ts";
import type { WebhookMessageType } from "./event-types.ts";

export interface WebhookMessage {
  readonly type: WebhookMessageType;
  /** The exact text. It is signed and the same in every try. */
  readonly body: string;
}

/** A message for one endpoint. */
export interface NewWebhookDelivery extends WebhookMessage {
  readonly id: string;
  readonly endpointId: string;
  /** The run and its event; absent when the message is not about a run. */
  readonly about?: { readonly runId: RunId; readonly seq: number };
}

export const WEBHOOK_DELIVERY_STATES = ["waiting", "delivered", "dead"] as const;
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];

export interface WebhookDelivery extends NewWebhookDelivery {
  readonly state: WebhookDeliveryState;
  /** The number of tries so far. */
  readonly tries: number;
  /** Why the last try failed, or why there are no more. */
  readonly error?: string;
  /** The earliest time of the next try, for a waiting delivery. */
  readonly dueAt?: Date;
  readonly createdAt: Date;
  readonly settledAt?: Date;
}

/** One try of a delivery in the history. */
export interface WebhookTry {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  /** The HTTP status of the receiver; absent when it did not answer. */
  readonly status?: number;
  readonly error?: string;
}
