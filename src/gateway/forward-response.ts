import type { ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { without } from "./headers.ts";
import { Refusal } from "./refusal.ts";
import { reasonOf, type UpstreamResponse } from "./upstream.ts";

export interface ForwardOptions {
  /** Headers that the sandbox must not see. */
  readonly drop: readonly string[];
  readonly through?: readonly Transform[];
  /** Called when the upstream ends the response, before the sandbox notices. */
  readonly onBroken?: () => void;
}

type ForwardedResponse = Omit<UpstreamResponse, "body"> & {
  readonly body: Readable | AsyncIterable<Buffer> | Iterable<Buffer>;
};

/** Forwards a response as it arrives, no faster than it is read. The end of one side ends the other. */
export async function forwardResponse(
  { body, headers, status }: ForwardedResponse,
  response: ServerResponse,
  { onBroken = () => undefined, drop, through = [] }: ForwardOptions,
): Promise<void> {
  response.writeHead(status, without(headers, drop));
  // The first event of a stream may come much later.
  response.flushHeaders();
  const source = body instanceof Readable ? body : Readable.from(body, { objectMode: false });
  source.once("error", onBroken);
  try {
    await pipeline([source, ...through, response]);
  } catch (error) {
    throw new Refusal(...reasonOf(error));
  }
}
