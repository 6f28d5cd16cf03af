import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import type { ApiLimits } from "../api-parts.ts";
import { callerOf } from "../auth.ts";
import type { OpenStreams } from "./open-streams.ts";
import { StreamWriter } from "./stream-writer.ts";

export interface StreamRequest {
  readonly limits: ApiLimits;
  readonly streams: OpenStreams;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** What is to be sent, piece by piece; it ends when the signal fires. */
  readonly texts: (signal: AbortSignal) => AsyncIterable<string>;
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  // Asks buffering proxies to let events through at once.
  "x-accel-buffering": "no",
  // A closing server need not wait for an idle connection that carried a stream.
  connection: "close",
};

/** Answers with the stream, until it ends, the reader goes away or is cut off, or the server closes. */
export async function streamEvents(wanted: StreamRequest): Promise<void> {
  const { streams, request, reply } = wanted;
  const { id } = callerOf(request);
  const stream = streams.open(id);
  reply.hijack();
  reply.raw.once("close", () => stream.abort());
  if (reply.raw.destroyed) stream.abort();
  try {
    await pump(wanted, stream);
  } finally {
    streams.done(id, stream);
  }
}

async function pump(wanted: StreamRequest, stream: AbortController): Promise<void> {
  const { limits, request, reply } = wanted;
  sendHeaders(reply);
  const writer = new StreamWriter(reply.raw, limits, () => endIfUnknown(request, stream));
  try {
    const isReading = await writeAll(wanted, writer, stream.signal);
    if (isReading || stream.signal.aborted) return writer.end();
    request.log.warn("stream.reader.stalled");
    writer.cut();
  } catch (error) {
    // The answer has begun, so its status cannot tell; the reader reconnects where it was.
    const facts = { err: error };
    if (error instanceof AppError) request.log.debug(facts, "stream.ended.early");
    else request.log.error(facts, "stream.failed");
    writer.cut();
  }
}

/** What hooks have set so far is Fastify's to send, but this answer is no longer Fastify's. */
function sendHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, HEADERS);
}

/** Whether the reader took everything. */
async function writeAll(
  { texts }: StreamRequest,
  writer: StreamWriter,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const text of texts(signal)) {
    if (!(await writer.write(text, signal))) return false;
  }
  return true;
}

/** A key that was revoked ends its streams. Where that cannot be found out just now, the next heartbeat asks again. */
function endIfUnknown({ caller, log }: FastifyRequest, stream: AbortController): void {
  caller?.isStillKnown().then(
    (isKnown) => isKnown || stream.abort(),
    (error: unknown) => log.debug({ err: error }, "stream.caller.unchecked"),
  );
}
