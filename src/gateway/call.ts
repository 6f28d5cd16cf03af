import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "./refusal.ts";

/** A request that showed its gateway's token, and its answer. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What follows the name of the part that it is for: from a slash on as it was sent, or empty. Holds no path tricks. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** Nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

/** Answers a call, or throws a `Refusal`. */
export type Part = (call: Call) => Promise<void>;

/** A signal that fires when the asker goes away, or when `closing` does. */
export function signalOf(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The body as it comes, up to a limit. Whoever stops reading it leaves the connection open for the answer. */
export async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer, void> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The body is larger than ${maxBytes} bytes.`);
}
