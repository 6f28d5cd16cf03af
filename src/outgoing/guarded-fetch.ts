import { text } from "node:stream/consumers";
import { Agent, fetch } from "undici";
import { createGuardedConnector, type GuardOptions } from "./guarded-connector.ts";

type GuardedFetch = (url: string, init: GuardedRequest) => Promise<Response>;

interface GuardedRequest {
  readonly method?: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

const ANSWER_BYTES_MAX = 256 * 1024;

/** Fetches short texts, only where `destinations` allows, and follows no redirect. */
export function createGuardedFetch(options: GuardOptions): GuardedFetch {
  const connect = createGuardedConnector(options);
  const dispatcher = new Agent({ connect, maxResponseSize: ANSWER_BYTES_MAX, pipelining: 0 });
  return async (url, init) => {
    const { body, headers, status } = await fetch(url, { ...init, dispatcher, redirect: "error" });
    return new Response(body && (await text(body)), { status, headers: Object.fromEntries(headers) });
  };
}
