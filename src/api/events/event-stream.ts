import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { Unsubscribe } from "../../core/ports/pubsub.ts";
import type { ApiLimits } from "../http/api-limits.ts";
import { oneAtATime } from "./notifications.ts";

export type StreamLimits = Pick<
  ApiLimits,
  "streamBufferBytes" | "streamStallMs" | "heartbeatMs" | "callerCheckMs"
>;

const RECONNECT_MS = 1_000;
const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Tells proxies not to buffer the events.
  "x-accel-buffering": "no",
};

/**
 * A response of the type `text/event-stream`. It ends when it is closed, when its reader disconnects or stalls, or
 * when the caller's key is revoked. Events for a slow reader are buffered up to a limit. Then the writer waits, and a
 * reader that takes nothing for too long is disconnected, so that it costs neither memory nor the time of others.
 * Idle streams hold no promise, because there are many of them.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #request: FastifyRequest;
  readonly #limits: StreamLimits;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #callerCheck: NodeJS.Timeout;
  readonly #unsubscribe: Unsubscribe | undefined;
  readonly #onceOver: (() => void)[] = [];
  /** Aborts a wait for the reader. Most streams never need it. */
  #stalling: AbortController | undefined;
  #isOver = false;

  /** Starts the response. Nothing else may answer the request afterwards. */
  constructor(request: FastifyRequest, reply: FastifyReply, limits: StreamLimits) {
    this.#raw = reply.raw;
    this.#request = request;
    this.#limits = limits;
    reply.hijack();
    sendHeaders(reply);
    this.#raw.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#raw.once("close", () => this.#finish());
    const check = oneAtATime(() => this.#checkCaller());
    this.#unsubscribe = request.caller?.onAccessChange(check);
    this.#heartbeat = setInterval(() => this.#beat(), limits.heartbeatMs);
    // A notification may be lost, and an expiring key causes none.
    this.#callerCheck = setInterval(check, limits.callerCheckMs);
    if (this.#raw.destroyed) {
      this.#finish();
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls `listener` when the stream ends for any reason, or at once if it has ended. */
  onceOver(listener: () => void): void {
    if (this.#isOver) {
      listener();
    } else {
      this.#onceOver.push(listener);
    }
  }

  /** Returns whether there is room for more. If not, the caller must await `drained` before the next write. */
  write(piece: string | Uint8Array): boolean {
    if (this.#isOver || this.#raw.destroyed) {
      return false;
    }
    this.#raw.write(piece);
    return this.#raw.writableLength <= this.#limits.streamBufferBytes;
  }

  /** Waits until there is room. Returns false if the stream has ended. */
  async drained(): Promise<boolean> {
    if (this.#isOver) {
      return false;
    }
    this.#stalling ??= new AbortController();
    const signal = AbortSignal.any([this.#stalling.signal, AbortSignal.timeout(this.#limits.streamStallMs)]);
    await once(this.#raw, "drain", { signal }).catch(() => this.#cutIfOpen());
    return !this.#isOver;
  }

  end(): void {
    if (this.#isOver) {
      return;
    }
    this.#finish();
    this.#raw.end();
  }

  /** Disconnects the reader, because the status code is already sent. The client reconnects and continues. */
  fail(error: unknown): void {
    if (this.#isOver) {
      return;
    }
    const facts = { error };
    if (error instanceof AppError) {
      this.#request.log.debug(facts, "stream.ended.early");
    } else {
      this.#request.log.error(facts, "stream.failed");
    }
    this.#cut();
  }

  #cutIfOpen(): void {
    if (this.#isOver) {
      return;
    }
    this.#request.log.warn("stream.reader.stalled");
    this.#cut();
  }

  #cut(): void {
    this.#finish();
    this.#raw.destroy();
  }

  #finish(): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    clearInterval(this.#heartbeat);
    clearInterval(this.#callerCheck);
    this.#unsubscribe?.();
    this.#stalling?.abort();
    for (const listener of this.#onceOver) {
      listener();
    }
  }

  #beat(): void {
    if (!this.#raw.writableNeedDrain) {
      this.#raw.write(": still here\n\n");
    }
  }

  /** Ends the stream if the key was revoked. If the check fails, the next one repeats it. */
  async #checkCaller(): Promise<void> {
    const { caller, log } = this.#request;
    try {
      if ((await caller?.isStillAuthenticated()) === false) {
        this.end();
      }
    } catch (error) {
      log.debug({ error }, "stream.caller.unchecked");
    }
  }
}

/**
 * Sends the headers that hooks have set, because Fastify no longer sends this response. Node stores headers that are
 * sent in one call as one text, otherwise as two hundred objects for the duration of the stream.
 */
function sendHeaders(reply: FastifyReply): void {
  // A closing server need not wait for an idle connection that carried a stream.
  reply.header("connection", "close");
  const set = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw.writeHead(200, { ...set, ...HEADERS });
  reply.raw.flushHeaders();
}

/** Returns true if the caller accepts only JSON. The default is a stream. */
export function wantsPage({ headers: { accept = "" } }: FastifyRequest): boolean {
  return /application\/(json|\*)/i.test(accept) && !/text\/event-stream/i.test(accept);
}
