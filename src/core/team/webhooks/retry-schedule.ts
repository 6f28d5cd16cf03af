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
