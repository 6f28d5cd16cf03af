import { pauseAfter } from "./retry-schedule.ts";
import type { WebhookAnswer } from "./webhook-client.ts";

export interface Tried {
  readonly answer: WebhookAnswer;
  /** Which try of the schedule this was. */
  readonly step: number;
  /** Since when the endpoint has failed, before this try. */
  readonly failingSince?: Date;
  /** The endpoint has another address by now, of which this answer says nothing. The message goes there next. */
  readonly hasMoved?: boolean;
  readonly now: Date;
}

/** What becomes of a delivery, and of its endpoint, after a try. */
export type Outcome =
  | { readonly state: "delivered" }
  | { readonly state: "waiting"; readonly error: string; readonly retryAfterMs: number }
  | { readonly state: "dead"; readonly error: string; readonly disable?: string };

const GONE = 410;
/** These two may say when to come back. */
const BUSY: ReadonlySet<number | undefined> = new Set([429, 503]);
const FAILING_MAX_DAYS = 5;
const DAY_MS = 86_400_000;

/** Anything but 2xx is a failure, a redirect too. */
export function decideOutcome(tried: Tried): Outcome {
  const { answer, step } = tried;
  const { status } = answer;
  if (status !== undefined && status >= 200 && status < 300) return { state: "delivered" };
  const error = answer.error ?? `The receiver answered HTTP ${status}.`;
  const disable = reasonToDisable(tried, error);
  if (disable !== undefined) return { state: "dead", error, disable };
  const retryAfterMs = pauseAfter(step, askedPauseMs(answer));
  return retryAfterMs === undefined ? { state: "dead", error } : { state: "waiting", error, retryAfterMs };
}

function reasonToDisable(
  { answer, failingSince, hasMoved = false, now }: Tried,
  error: string,
): string | undefined {
  if (hasMoved) return undefined;
  if (answer.status === GONE) return "The receiver answered 410 Gone.";
  const failingMs = failingSince === undefined ? 0 : now.getTime() - failingSince.getTime();
  if (failingMs < FAILING_MAX_DAYS * DAY_MS) return undefined;
  return `Every try of the last ${FAILING_MAX_DAYS} days failed. ${error}`;
}

/** For how long the receiver wants to be left alone. */
export function askedPauseMs(answer: WebhookAnswer): number | undefined {
  return answer.status !== undefined && BUSY.has(answer.status) ? answer.retryAfterMs : undefined;
}
