import { APIConnectionError, APIError } from "../errors.ts";

/** The pause before the first retry. It doubles before each further one. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** The part of a pause that is left out at random, so that many clients do not return at the same moment. */
const JITTER = 0.25;
/** If the server asks for a longer pause, the error is thrown at once, because nobody expects a call to take so long. */
const LONGEST_SERVER_PAUSE_MS = 60_000;
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 409, 429]);

export interface Retry {
  /** The number of retries before this one. */
  readonly retries: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Returns the pause before the same request may succeed, or undefined if a retry is useless. */
export function pauseBeforeRetry(error: unknown, retry: Retry): number | undefined {
  if (error instanceof APIConnectionError) {
    return defaultPause(retry);
  }
  if (!(error instanceof APIError) || !isRetried(error)) {
    return undefined;
  }
  const asked = pauseOfServer(error.headers, retry.now);
  if (asked === undefined) {
    return defaultPause(retry);
  }
  return asked <= LONGEST_SERVER_PAUSE_MS ? asked : undefined;
}

/** The server's own word wins over the status. */
function isRetried({ status, headers }: APIError): boolean {
  const word = headers.get("x-should-retry");
  if (word === "true" || word === "false") {
    return word === "true";
  }
  return RETRIED_STATUSES.has(status) || status >= 500;
}

/** Reads `retry-after-ms`, and `retry-after` in seconds or as a date. */
function pauseOfServer(headers: Headers, now: number): number | undefined {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== undefined) {
    return exact;
  }
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (text === null || seconds !== undefined) {
    return seconds === undefined ? undefined : seconds * 1_000;
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function defaultPause({ retries, random }: Retry): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS) * (1 - JITTER * random);
}
