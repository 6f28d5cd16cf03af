import { LogLevel, type Logger as SlackLogger, WebClient, type WebClientOptions } from "@slack/web-api";
import type { Clock } from "../../core/basics/clock.ts";
import type { SlackConfig } from "./config.ts";
import { toAppError } from "./errors.ts";
import { respectRetryAfter } from "./respect-retry-after.ts";

/** A call that hangs would delay all later notices of its thread. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface ClientDeps {
  readonly clock: Pick<Clock, "elapsedMs">;
  readonly fetch?: WebClientOptions["fetch"];
}

/**
 * Slack's Web API. The library neither retries nor limits the rate, because posting is not idempotent. Only the
 * outbox tries again, after it looked for the message of the earlier try.
 */
export function createClient(
  { apiUrl, botToken }: Pick<SlackConfig, "apiUrl"> & Partial<Pick<SlackConfig, "botToken">>,
  { clock, fetch = globalThis.fetch }: ClientDeps,
): WebClient {
  return new WebClient(botToken, {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: REQUEST_TIMEOUT_MS,
    logger: SILENT_LOGGER,
    fetch: respectRetryAfter(fetch, clock),
  });
}

/** The address of a method, for the calls that the library does not make. */
export function methodUrl(apiUrl: string, method: string): URL {
  return new URL(method, apiUrl.replace(/\/?$/, "/"));
}

/** Awaits a call of the Web API. A failure becomes an AppError that says whether a later try may succeed. */
export async function callSlack<T>(method: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toAppError(error, method);
  }
}

const drop = (): void => undefined;

/** The library throws everything that it warns of, and the caller logs it. Its debug lines contain whole requests. */
const SILENT_LOGGER: SlackLogger = {
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
  setLevel: drop,
  getLevel: () => LogLevel.ERROR,
  setName: drop,
};
