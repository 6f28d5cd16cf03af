import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "./refusal.ts";

/** A request with a valid gateway token, and its response. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /**
   * The path after the name of the handler, as it was sent: empty, or starting with a slash. It contains no path
   * traversal.
   */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** Aborted when the client no longer wants the response. */
  readonly signal: AbortSignal;
}

/** Answers a call, or throws a `Refusal`. */
export type CallHandler = (call: Call) => Promise<void>;

/** A signal that is aborted when the client disconnects, or when `closing` is. */
export function signalOf(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The body in pieces, up to a limit. A reader that stops leaves the connection open for the response. */
export async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer, void> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    throw tooLarge(maxBytes);
  }
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw tooLarge(maxBytes);
    }
    yield chunk;
  }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The body is larger than ${maxBytes} bytes.`);
}
