import { LogLevel, type Logger as SlackLogger, WebClient, type WebClientOptions } from "@slack/web-api";
import type { SlackConfig } from "./config.ts";

/** A call that hangs would hold back every later notice of its thread. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface WebClientDeps {
  readonly config: SlackConfig;
  readonly fetch?: WebClientOptions["fetch"];
}

/**
 * No retries and no pacing in the library: posting is not idempotent, so it is the outbox that tries again, after
 * it has looked whether the message is already there.
 */
export function webClientOptions({ config, fetch }: WebClientDeps): WebClientOptions {
  return {
    slackApiUrl: config.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: REQUEST_TIMEOUT_MS,
    logger: SILENT_LOGGER,
    ...(fetch === undefined ? {} : { fetch }),
  };
}

export function createWebClient(deps: WebClientDeps): WebClient {
  return new WebClient(deps.config.botToken, webClientOptions(deps));
}

const drop = (): void => undefined;

/**
 * What the libraries warn of they throw as well, and it is logged where it is handled. Their debug lines hold whole
 * requests.
 */
export const SILENT_LOGGER: SlackLogger = {
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
  setLevel: drop,
  getLevel: () => LogLevel.ERROR,
  setName: drop,
};
