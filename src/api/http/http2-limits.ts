import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { ApiLimits } from "./api-limits.ts";
import { requestTimeoutAnswer } from "./error-answers.ts";

type Http2Limits = Pick<
  ApiLimits,
  "connectionTimeoutMs" | "headersTimeoutMs" | "keepAliveMs" | "requestTimeoutMs" | "timeoutCheckMs"
>;

/** Node's default is no limit. A browser opens few more, and further requests wait for their turn. */
const STREAMS_PER_CONNECTION = 100;

export const HTTP2_SETTINGS = { settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION } };

/** Node's own constants would load `node:http2` in servers without TLS. RFC 9113 defines these numbers. */
const NO_ERROR = 0;
const CANCEL = 8;
/** The slowest reading of a large response, in bytes per millisecond. */
const SLOWEST_READING = (16 * 1_024) / 1_000;
/** nghttp2's numbers for streams whose request has not ended: nothing has ended, and only the response has. */
const INCOMPLETE: readonly unknown[] = [2, 5];

/**
 * Cuts off slow callers over HTTP/2, as Node does over HTTP/1.1. A new connection must begin its first request within
 * `headersTimeoutMs`, and may then be without requests for `keepAliveMs`. A request must arrive within
 * `requestTimeoutMs`. What was written of a response must be read within `connectionTimeoutMs` and one second per 16 KiB.
 */
export function limitHttp2(server: FastifyInstance, publicUrl: () => string, limits: Http2Limits): void {
  // Node reports a handshake that failed or took too long, and leaves the connection open.
  server.server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  server.server.on("session", (session: ServerHttp2Session) => limitSession(session, publicUrl, limits));
}

function limitSession(
  session: ServerHttp2Session,
  publicUrl: () => string,
  { connectionTimeoutMs, headersTimeoutMs, keepAliveMs, requestTimeoutMs, timeoutCheckMs }: Http2Limits,
): void {
  const responses = new Set<UnreadResponse>();
  let idle = setTimeout(() => session.destroy(), headersTimeoutMs);
  const check = setInterval(() => closeUnread(responses, connectionTimeoutMs), timeoutCheckMs);
  session.once("close", () => {
    clearTimeout(idle);
    clearInterval(check);
  });
  session.on("stream", (stream) => {
    const response = new UnreadResponse(stream, performance.now());
    responses.add(response);
    clearTimeout(idle);
    const late = setTimeout(() => cutIfIncomplete(stream, publicUrl), requestTimeoutMs);
    stream.once("close", () => {
      clearTimeout(late);
      responses.delete(response);
      if (responses.size === 0 && !session.closed) {
        idle = setTimeout(() => session.destroy(), keepAliveMs);
      }
    });
  });
}

/**
 * Node's own time limits do not find these responses: each frame of the connection restarts them, for example a PING,
 * and the limit of a session only refuses further requests.
 */
function closeUnread(responses: Iterable<UnreadResponse>, connectionTimeoutMs: number): void {
  const nowMs = performance.now();
  for (const response of responses) {
    if (response.lateMs(nowMs) >= connectionTimeoutMs) {
      response.stream.close(CANCEL);
    }
  }
}

/** Answers a request that has not arrived, and then tells the caller to send no more of it. */
function cutIfIncomplete(stream: ServerHttp2Stream, publicUrl: () => string): void {
  if (!INCOMPLETE.includes(stream.state.state)) {
    return;
  }
  if (!stream.headersSent) {
    const { status, headers, body } = requestTimeoutAnswer(publicUrl);
    stream.respond({ ":status": status, ...headers });
    stream.end(body);
  }
  stream.close(NO_ERROR);
}

/** A response over HTTP/2. Measures how long its caller has read nothing of it although bytes wait. */
class UnreadResponse {
  readonly stream: ServerHttp2Stream;
  #sinceMs: number;
  #waitingBytes = 0;
  #hasDrained = false;

  constructor(stream: ServerHttp2Stream, nowMs: number) {
    this.stream = stream;
    this.#sinceMs = nowMs;
    // Otherwise a caller that reads one piece and gets the next one would seem to read nothing.
    stream.on("drain", () => {
      this.#hasDrained = true;
    });
  }

  /**
   * Returns how long the bytes have waited, minus the time that a slow caller needs for them: a large write counts as
   * unread until all of it was read. To be called regularly, because nothing notifies of what a caller reads.
   */
  lateMs(nowMs: number): number {
    const { bufferSize } = this.stream;
    if (bufferSize === 0 || bufferSize < this.#waitingBytes || this.#hasDrained) {
      this.#sinceMs = nowMs;
    }
    this.#waitingBytes = bufferSize;
    this.#hasDrained = false;
    return nowMs - this.#sinceMs - bufferSize / SLOWEST_READING;
  }
}
