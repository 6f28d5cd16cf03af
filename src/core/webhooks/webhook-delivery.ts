import type { RunId } from "../ids.ts";
import type { WebhookMessageType } from "./event-types.ts";

export interface WebhookMessage {
  readonly type: WebhookMessageType;
  /** The exact text: it is signed, and the same in every try. */
  readonly body: string;
}

/** A message for one endpoint. */
export interface NewWebhookDelivery extends WebhookMessage {
  readonly id: string;
  readonly endpointId: string;
  /** What of which run is told; absent when it is not about a run. */
  readonly about?: { readonly runId: RunId; readonly seq: number };
}

export const WEBHOOK_DELIVERY_STATES = ["waiting", "delivered", "dead"] as const;
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];

export interface WebhookDelivery extends NewWebhookDelivery {
  readonly state: WebhookDeliveryState;
  /** How often it was tried. */
  readonly tries: number;
  /** Why the last try failed, or why there are no more. */
  readonly error?: string;
  /** When it is tried next, at the earliest; of a delivery that waits. */
  readonly dueAt?: Date;
  readonly createdAt: Date;
  readonly settledAt?: Date;
}

/** One try of a delivery, as it is remembered. */
export interface WebhookTry {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  /** The receiver's HTTP status; absent when it did not answer. */
  readonly status?: number;
  readonly error?: string;
}
