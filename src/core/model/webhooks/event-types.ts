import type { RunEventBody } from "../runs/events.ts";
import type { RunState } from "../runs/states.ts";

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
