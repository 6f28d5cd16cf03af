import type { WebhookAnswer } from "../../ports/webhook-client.ts";
import { pauseAfter } from "./retry-schedule.ts";

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
