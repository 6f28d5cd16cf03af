import { LogLevel, type Logger as SlackLogger, WebClient, type WebClientOptions } from "@slack/web-api";
import type { Clock } from "../../core/basics/clock.ts";
import type { SlackConfig } from "./config.ts";
import { toAppError } from "./errors.ts";

/** A call that hangs would delay all later notices of its thread. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface ClientDeps {
  readonly clock: Pick<Clock, "elapsedMs">;
  readonly fetch?: WebClientOptions["fetch"];
}

/** As in `createClient`, for the clients that Bolt makes. */
export function clientOptions(
  { apiUrl }: Pick<SlackConfig, "apiUrl">,
  { clock, fetch = globalThis.fetch }: ClientDeps,
) {
  return {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: REQUEST_TIMEOUT_MS,
    logger: SILENT_LOGGER,
    fetch: respectRetryAfter(fetch, clock),
  } satisfies WebClientOptions;
}

/**
 * Slack's Web API. The library neither retries nor limits the rate, because posting is not idempotent. Only the
 * outbox tries again, after it looked for the message of the earlier try.
 */
export function createClient(
  { apiUrl, botToken }: Pick<SlackConfig, "apiUrl" | "botToken">,
  deps: ClientDeps,
): WebClient {
  return new WebClient(botToken, clientOptions({ apiUrl }, deps));
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

type Fetch = NonNullable<WebClientOptions["fetch"]>;

/** The outbox keeps the limits of what it writes: those of posts are for a channel and not for a method. */
const READING = /\/((?:conversations|users|auth)\.\w+|files\.info)$/;
/** A wrong time must not close a method for days. */
const PAUSE_MAX_SECONDS = 3_600;
const TOO_MANY = 429;
const MS_PER_SECOND = 1_000;

/**
 * Slack counts the calls of each method in a workspace, and says with a refusal when the next one is allowed. Until then a
 * call of that method is refused here, and those of other methods are not
 * (https://docs.slack.dev/apis/web-api/rate-limits, docs/decisions/slack.md).
 */
function respectRetryAfter(fetch: Fetch, clock: Pick<Clock, "elapsedMs">): Fetch {
  const closedUntilMs = new Map<string, number>();
  return async (input, init) => {
    const method = READING.exec(String(input))?.[1];
    if (method === undefined) {
      return fetch(input, init);
    }
    const pauseMs = (closedUntilMs.get(method) ?? 0) - clock.elapsedMs();
    if (pauseMs > 0) {
      return refusal(Math.ceil(pauseMs / MS_PER_SECOND));
    }
    const answer = await fetch(input, init);
    const seconds = answer.status === TOO_MANY ? Number(answer.headers.get("retry-after")) : 0;
    if (seconds > 0) {
      closedUntilMs.set(method, clock.elapsedMs() + Math.min(seconds, PAUSE_MAX_SECONDS) * MS_PER_SECOND);
    }
    return answer;
  };
}

function refusal(seconds: number): Response {
  return new Response(null, { status: TOO_MANY, headers: { "retry-after": String(seconds) } });
}
