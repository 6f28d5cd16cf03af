import { Webhook } from "standardwebhooks";
import { type buildConnector, Client, type Dispatcher } from "undici";
import { defined } from "../core/basics/defined.ts";
import type { SignedMessage, WebhookAnswer, WebhookClient } from "../core/ports/webhook-client.ts";
import type { Destinations } from "./destinations.ts";
import { createGuardedConnector, ForbiddenDestination, type Resolve } from "./guarded-connector.ts";

export interface WebhookClientOptions {
  readonly destinations: Destinations;
  /** The limit for everything from resolving the name to the head of the response. */
  readonly limitMs?: number;
  readonly resolve?: Resolve;
}

type Connector = buildConnector.connector;

/** The minimum that the specification recommends. */
const LIMIT_MS = 15_000;

/** Creates the client's `post`. */
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

/**
 * Uses a separate HTTP client, so that nothing of this receiver outlives the call: no socket, no byte of its
 * response.
 */
async function send(connect: Connector, message: SignedMessage, signal: AbortSignal): Promise<Answered> {
  const { origin, pathname, search } = new URL(message.url);
  const client = new Client(origin, { connect });
  try {
    const path = `${pathname}${search}`;
    const { body, headers, statusCode } = await client.request({ ...requestOf(message), path, signal });
    // The status is enough. The body is not read, however long it is. Its end with the client is not an error.
    body.on("error", () => undefined);
    const pauseMs = retryAfterMs(headers["retry-after"], new Date());
    return defined({ status: statusCode, retryAfterMs: pauseMs });
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

/** The headers of the Standard Webhooks specification. The time is that of the try, not of the event. */
function signatureHeaders({ id, body, secrets }: SignedMessage, now: Date): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(" "),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "The host name cannot be resolved",
  EAI_AGAIN: "The host name cannot be resolved now",
  ECONNREFUSED: "The connection was refused",
  ECONNRESET: "The connection was cut off",
  UND_ERR_SOCKET: "The connection was cut off",
  UND_ERR_CONNECT_TIMEOUT: "The connection could not be made in time",
  UND_ERR_HEADERS_OVERFLOW: "The head of the answer is too large",
  HTTPParserError: "The answer is not HTTP",
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_/;

/**
 * Why a receiver could not be reached, for the owner of the endpoint. Uses only the code of the error, because its
 * message contains resolved addresses, which only the operator may see.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenDestination) {
    return error.message;
  }
  const code = codeOf(error);
  const reason =
    REASONS[code] ?? (CERTIFICATE.test(code) ? "The certificate is not valid" : "The connection failed");
  return `${reason} (${code}).`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return "unknown";
  }
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/**
 * A `Retry-After` header as milliseconds from now, given in seconds or as a date; undefined: it is missing or
 * invalid.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== "string") {
    return undefined;
  }
  if (/^\d{1,9}$/.test(header)) {
    return Number(header) * 1_000;
  }
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** JavaScript's own date parser accepts almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/;
