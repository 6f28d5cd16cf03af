import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import type { Unsubscribe } from "../../core/ports/pubsub.ts";
import type { ApiLimits } from "../api-deps.ts";
import { oneAtATime } from "./one-at-a-time.ts";

export type StreamLimits = Pick<ApiLimits, "streamBufferBytes" | "streamStallMs" | "heartbeatMs">;

const RECONNECT_MS = 1_000;
const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Asks buffering proxies to let events through at once.
  "x-accel-buffering": "no",
  // A closing server need not wait for an idle connection that carried a stream.
  connection: "close",
};

/**
 * One `text/event-stream`, until it is ended, its reader goes away or is cut off, or its key is revoked. What a slow
 * reader has not taken is held up to a cap; then whoever writes waits for it, and a reader that takes nothing for long is
 * cut off, so that it costs neither memory nor anybody else's time. There are many at a time, and most of them wait: they
 * hold no promise meanwhile.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #request: FastifyRequest;
  readonly #limits: StreamLimits;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #undoubt: Unsubscribe | undefined;
  readonly #onceOver: (() => void)[] = [];
  /** Ends a wait for the reader. Most streams never need one. */
  #stalling: AbortController | undefined;
  #isOver = false;

  /** Answers the request: from here on nobody else may. */
  constructor(request: FastifyRequest, reply: FastifyReply, limits: StreamLimits) {
    this.#raw = reply.raw;
    this.#request = request;
    this.#limits = limits;
    reply.hijack();
    sendHeaders(reply);
    this.#raw.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#raw.once("close", () => this.#finish());
    const check = oneAtATime(() => this.#checkCaller());
    this.#undoubt = request.caller?.onDoubt(check);
    this.#heartbeat = setInterval(() => this.#beat(check), limits.heartbeatMs);
    if (this.#raw.destroyed) this.#finish();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls `listener` when the stream is over, for whatever reason; at once if it is. */
  onceOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#onceOver.push(listener);
  }

  /** Whether there is room for more. Else, and before anything else is written, `drained` says how it goes on. */
  write(piece: string | Uint8Array): boolean {
    if (this.#isOver || this.#raw.destroyed) return false;
    this.#raw.write(piece);
    return this.#raw.writableLength <= this.#limits.streamBufferBytes;
  }

  /** Waits until there is room. False: there is nobody to write to any more. */
  async drained(): Promise<boolean> {
    if (this.#isOver) return false;
    this.#stalling ??= new AbortController();
    const signal = AbortSignal.any([this.#stalling.signal, AbortSignal.timeout(this.#limits.streamStallMs)]);
    await once(this.#raw, "drain", { signal }).catch(() => this.#cutIfOpen());
    return !this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#raw.end();
  }

  /** The answer has begun, so its status cannot tell; the reader reconnects where it was. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const facts = { error };
    if (error instanceof AppError) this.#request.log.debug(facts, "stream.ended.early");
    else this.#request.log.error(facts, "stream.failed");
    this.#cut();
  }

  #cutIfOpen(): void {
    if (this.#isOver) return;
    this.#request.log.warn("stream.reader.stalled");
    this.#cut();
  }

  #cut(): void {
    this.#finish();
    this.#raw.destroy();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#heartbeat);
    this.#undoubt?.();
    this.#stalling?.abort();
    for (const listener of this.#onceOver) listener();
  }

  /** Checks by itself too who still may read: news of that may be lost, and there is none of a key that expires. */
  #beat(check: () => void): void {
    if (!this.#raw.writableNeedDrain) this.#raw.write(": still here\n\n");
    check();
  }

  /** A key that was revoked ends its streams. Where that cannot be found out just now, the next heartbeat asks again. */
  async #checkCaller(): Promise<void> {
    const { caller, log } = this.#request;
    try {
      if ((await caller?.isStillKnown()) === false) this.end();
    } catch (error) {
      log.debug({ error }, "stream.caller.unchecked");
    }
  }
}

/**
 * What hooks have set so far is Fastify's to send, but this answer is no longer Fastify's. Headers that are given all at
 * once and sent by themselves are kept by Node as one text; else as two hundred objects, for as long as the stream lasts.
 */
function sendHeaders(reply: FastifyReply): void {
  const set = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw.writeHead(200, { ...set, ...HEADERS });
  reply.raw.flushHeaders();
}
