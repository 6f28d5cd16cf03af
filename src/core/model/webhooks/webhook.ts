import type { PrincipalId, RunId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { RunEventBody } from "../runs/events.ts";
import type { RunState } from "../runs/states.ts";

/** An address that receives the events of a team's runs, or of one run. */
export interface WebhookEndpoint extends TeamRecord {
  /** The only run whose events it receives. The list of the team's endpoints does not contain it. */
  readonly runId?: RunId;
  readonly url: string;
  readonly description?: string;
  /** The event types that it receives. Empty for the endpoint of one run, which receives all that begin with `run.`. */
  readonly events: readonly WebhookEventType[];
  /** Events during the time in which it is disabled are never sent. */
  readonly enabled: boolean;
  /** Why Errand disabled it; absent when the team did. */
  readonly disabledReason?: string;
  /** At most two, newest first. */
  readonly secrets: readonly WebhookSecret[];
  readonly createdBy: PrincipalId;
  /** Since when every try has failed. */
  readonly failingSince?: Date;
}

export interface WebhookSecret {
  /** Only `secretOwner` can open it in the secret box. */
  readonly sealed: string;
  /** Until then messages are also signed with the previous secret. */
  readonly expiresAt?: Date;
}

/** What the sealed secrets are bound to. In the row of another endpoint they cannot be opened. */
export function secretOwner(endpointId: string): string {
  return `webhook:${endpointId}`;
}

export function validSecrets(
  { secrets }: Pick<WebhookEndpoint, "secrets">,
  now: Date,
): readonly WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
}

const SECRET_BYTES = 32;

/** In the format of the Standard Webhooks specification. */
export function newWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** `run.created`, and one type for each state. */
const TYPE_OF_STATE = {
  QUEUED: "run.queued",
  PENDING: "run.pending",
  CLAIMED: "run.claimed",
  INPROGRESS: "run.inprogress",
  BLOCKED: "run.blocked",
  SUCCEEDED: "run.succeeded",
  FAILED: "run.failed",
  ERROR: "run.error",
  CANCELLED: "run.cancelled",
} as const satisfies Readonly<Record<RunState, string>>;

export const RUN_EVENT_TYPES = ["run.created", ...Object.values(TYPE_OF_STATE)] as const;

/** The types that an endpoint can subscribe to. */
export const WEBHOOK_EVENT_TYPES = [...RUN_EVENT_TYPES, "webhook.disabled"] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** A test is sent on request, whatever the endpoint subscribes to. */
export type WebhookMessageType = WebhookEventType | "webhook.test";

/** The events of a run that webhooks report. */
export type StateChangeEvent = Extract<RunEventBody, { kind: "run.created" | "run.state" }>;
export const STATE_CHANGE_KINDS = [
  "run.created",
  "run.state",
] as const satisfies readonly StateChangeEvent["kind"][];

export function isStateChange(body: RunEventBody): body is StateChangeEvent {
  return STATE_CHANGE_KINDS.some((kind) => kind === body.kind);
}

export function typeOf(move: StateChangeEvent): WebhookEventType {
  return move.kind === "run.created" ? "run.created" : TYPE_OF_STATE[move.to];
}

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
