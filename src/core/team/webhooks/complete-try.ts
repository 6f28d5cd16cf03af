import { defined } from "../../basics/defined.ts";
import { newId } from "../../basics/ids.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { TakenWebhook } from "../../ports/stores/webhook-stores.ts";
import type { WebhookAnswer } from "../../ports/webhook-client.ts";
import { disabledMessage } from "./webhook-message.ts";

/** Stores the result of a try in one transaction; undefined when the delivery is no longer active. */
export async function completeTry(
  storage: Pick<Storage, "webhooks">,
  taken: TakenWebhook,
  answer: WebhookAnswer,
  now: Date,
): Promise<Outcome | undefined> {
  const endpoint = await storage.webhooks.outbox.lock(taken.endpoint.id);
  if (endpoint === undefined) {
    return undefined;
  }
  const { failingSince, url } = endpoint;
  const hasMoved = url !== taken.endpoint.url;
  const health = defined({ hasMoved, failingSince });
  const outcome = decideOutcome({ answer, step: taken.step, now, ...health });
  const { durationMs, status } = answer;
  const isOurs = await storage.webhooks.outbox.complete(
    taken,
    defined({
      state: outcome.state,
      retryAfterMs: "retryAfterMs" in outcome ? outcome.retryAfterMs : undefined,
      tried: defined({
        durationMs,
        status: status !== undefined ? status : undefined,
        error: "error" in outcome ? outcome.error : undefined,
      }),
    }),
  );
  if (!isOurs) {
    return undefined;
  }
  if (!hasMoved) {
    await keepCount(storage, endpoint, outcome, now);
  }
  return outcome;
}

/** Updates the failure count of the endpoint, and disables an endpoint that only fails. */
async function keepCount(
  storage: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
  outcome: Outcome,
  now: Date,
): Promise<void> {
  const { failingSince, ...healthy } = endpoint;
  if (outcome.state === "delivered") {
    if (failingSince !== undefined) {
      await storage.webhooks.endpoints.replace(healthy);
    }
    return;
  }
  const reason = outcome.state === "dead" ? outcome.disable : undefined;
  if (reason !== undefined && endpoint.enabled) {
    return disable(storage, endpoint, reason, now);
  }
  if (failingSince === undefined) {
    await storage.webhooks.endpoints.replace({ ...endpoint, failingSince: now });
  }
}

/**
 * The notice appears in the endpoint's own history, and is sent to the team's other endpoints that subscribe to it. The
 * team does not manage the endpoint of one run.
 */
async function disable(
  storage: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
  reason: string,
  now: Date,
): Promise<void> {
  await storage.webhooks.endpoints.replace({
    ...endpoint,
    enabled: false,
    disabledReason: reason,
    updatedAt: now,
  });
  const others = endpoint.runId === undefined ? await listOthers(storage, endpoint) : [];
  const notice = disabledMessage(endpoint, reason, now);
  const notices = [endpoint, ...others].map(({ id }) => ({ id: newId(now), endpointId: id, ...notice }));
  await storage.webhooks.outbox.add(notices);
  await storage.webhooks.outbox.giveUp(endpoint.id, `The endpoint was switched off. ${reason}`);
}

async function listOthers(
  { webhooks }: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
): Promise<readonly WebhookEndpoint[]> {
  const all = await webhooks.endpoints.list(endpoint.teamId);
  return all.filter(
    ({ enabled, events, id }) => enabled && events.includes("webhook.disabled") && id !== endpoint.id,
  );
}

export interface Tried {
  readonly answer: WebhookAnswer;
  /** The number of the try in the retry schedule. */
  readonly step: number;
  /** Since when the endpoint has failed, before this try. */
  readonly failingSince?: Date;
  /** The endpoint has a new address, so this result does not count. The message is sent to the new address next. */
  readonly hasMoved?: boolean;
  readonly now: Date;
}

/** What happens to a delivery and its endpoint after a try. */
export type Outcome =
  | { readonly state: "delivered" }
  | { readonly state: "waiting"; readonly error: string; readonly retryAfterMs: number }
  | { readonly state: "dead"; readonly error: string; readonly disable?: string };

const GONE = 410;
/** These two statuses may carry `Retry-After`. */
const BUSY: ReadonlySet<number | undefined> = new Set([429, 503]);
const FAILING_MAX_DAYS = 5;
const DAY_MS = 86_400_000;

/** Any status except 2xx is a failure, redirects included. */
export function decideOutcome(tried: Tried): Outcome {
  const { answer, step } = tried;
  const { status } = answer;
  if (status !== undefined && status >= 200 && status < 300) {
    return { state: "delivered" };
  }
  const error = answer.error ?? `The receiver answered HTTP ${status}.`;
  const disable = reasonToDisable(tried, error);
  if (disable !== undefined) {
    return { state: "dead", error, disable };
  }
  const retryAfterMs = pauseAfter(step, requestedPauseMs(answer));
  return retryAfterMs === undefined ? { state: "dead", error } : { state: "waiting", error, retryAfterMs };
}

function reasonToDisable(
  { answer, failingSince, hasMoved = false, now }: Tried,
  error: string,
): string | undefined {
  if (hasMoved) {
    return undefined;
  }
  if (answer.status === GONE) {
    return "The receiver answered 410 Gone.";
  }
  const failingMs = failingSince === undefined ? 0 : now.getTime() - failingSince.getTime();
  if (failingMs < FAILING_MAX_DAYS * DAY_MS) {
    return undefined;
  }
  return `Every try of the last ${FAILING_MAX_DAYS} days failed. ${error}`;
}

/** The pause that the receiver requests, in milliseconds. */
export function requestedPauseMs(answer: WebhookAnswer): number | undefined {
  return answer.status !== undefined && BUSY.has(answer.status) ? answer.retryAfterMs : undefined;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses between tries from the example in the Standard Webhooks specification: three days in total. */
export const RETRY_PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** The random spread, so that messages that failed together are not tried again together. */
const SPREAD = 0.1;
/** The longest pause that a receiver may request. */
const PAUSE_MAX_MS = 24 * HOUR_MS;

/** The pause after try `step`, extended to the requested `requestedMs`; undefined: that was the last try. */
export function pauseAfter(step: number, requestedMs = 0): number | undefined {
  const pauseMs = RETRY_PAUSES_MS[step - 1];
  if (pauseMs === undefined) {
    return undefined;
  }
  return Math.round(Math.max(pauseMs, Math.min(requestedMs, PAUSE_MAX_MS)) * (1 + Math.random() * SPREAD));
}
