import { type buildConnector, Client, type Dispatcher } from "undici";
import type { SignedMessage, WebhookAnswer, WebhookClient } from "../core/webhooks/webhook-client.ts";
import type { Destinations } from "../network-policy/destinations.ts";
import { createGuardedConnector, type Resolve } from "../network-policy/guarded-connector.ts";
import { reasonOf } from "./failure-reason.ts";
import { retryAfterMs } from "./retry-after.ts";
import { signatureHeaders } from "./signature.ts";

export interface WebhookClientOptions {
  readonly destinations: Destinations;
  /** For everything together, from resolving the name to the answer's head. */
  readonly limitMs?: number;
  readonly resolve?: Resolve;
}

type Connector = buildConnector.connector;

/** What the specification recommends, at least. */
const LIMIT_MS = 15_000;

/** The client's `post`. */
export function createPost({
  destinations,
  limitMs = LIMIT_MS,
  ...resolving
}: WebhookClientOptions): WebhookClient["post"] {
  const connect = createGuardedConnector({ destinations, connectMs: limitMs, ...resolving });
  return async (message, stop) => {
    const begun = performance.now();
    const limit = AbortSignal.timeout(limitMs);
    try {
      const answer = await send(connect, message, AbortSignal.any([limit, stop]));
      return { durationMs: since(begun), ...answer };
    } catch (error) {
      stop.throwIfAborted();
      const reason = limit.aborted ? `There was no answer within ${limitMs} ms.` : reasonOf(error);
      return { durationMs: since(begun), error: reason };
    }
  };
}

type Answered = Omit<Extract<WebhookAnswer, { status: number }>, "durationMs">;

/** By a client of its own, so that nothing of this receiver outlives the call: no socket, no byte of its answer. */
async function send(connect: Connector, message: SignedMessage, signal: AbortSignal): Promise<Answered> {
  const { origin, pathname, search } = new URL(message.url);
  const client = new Client(origin, { connect });
  try {
    const path = `${pathname}${search}`;
    const { body, headers, statusCode } = await client.request({ ...requestOf(message), path, signal });
    // The status says everything; the body is left unread, however long it is. Its end with the client is no error.
    body.on("error", () => undefined);
    const pauseMs = retryAfterMs(headers["retry-after"], new Date());
    return { status: statusCode, ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }) };
  } finally {
    await client.destroy();
  }
}

function requestOf(
  message: SignedMessage,
): Pick<Dispatcher.RequestOptions, "method" | "headers" | "body" | "reset"> {
  const headers = { "content-type": "application/json", "user-agent": "Errand" };
  return {
    method: "POST",
    headers: { ...headers, ...signatureHeaders(message, new Date()) },
    body: message.body,
    reset: true,
  };
}

function since(begun: number): number {
  return Math.round(performance.now() - begun);
}
