import type { ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { without } from "./headers.ts";
import { Refusal } from "./refusal.ts";
import { type Answer, reasonOf } from "./upstream.ts";

export interface SendOnOptions {
  /** Headers that do not belong to the sandbox. */
  readonly drop: readonly string[];
  readonly through?: readonly Transform[];
  /** Called when it is the upstream that ends it, before the sandbox notices. */
  readonly brokeOff?: () => void;
}

type PassedAnswer = Omit<Answer, "body"> & {
  readonly body: Readable | AsyncIterable<Buffer> | Iterable<Buffer>;
};

/** Passes an answer on as it comes, no faster than it is taken. Whatever ends one side ends the other. */
export async function sendOn(
  { body, headers, status }: PassedAnswer,
  response: ServerResponse,
  { brokeOff = () => undefined, drop, through = [] }: SendOnOptions,
): Promise<void> {
  response.writeHead(status, without(headers, drop));
  // A stream of events may have its first one much later.
  response.flushHeaders();
  const source = body instanceof Readable ? body : Readable.from(body, { objectMode: false });
  source.once("error", brokeOff);
  try {
    await pipeline([source, ...through, response]);
  } catch (error) {
    throw new Refusal(...reasonOf(error));
  }
}
