import type { WebClientOptions } from "@slack/web-api";
import type { Clock } from "../../core/basics/clock.ts";

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
export function respectRetryAfter(fetch: Fetch, clock: Pick<Clock, "elapsedMs">): Fetch {
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
