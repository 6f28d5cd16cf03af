import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { FastifyInstance } from "fastify";
import type { ApiLimits } from "../api-deps.ts";
import { requestTimeoutAnswer } from "./error-answers.ts";

type Http2Limits = Pick<ApiLimits, "headersTimeoutMs" | "keepAliveMs" | "requestTimeoutMs">;

/** Node's default is no limit. A browser opens few more, and further requests wait for their turn. */
const STREAMS_PER_CONNECTION = 100;

export const HTTP2_SETTINGS = { settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION } };

/** Node's own constants would load `node:http2` in servers without TLS. RFC 9113 defines these numbers. */
const NO_ERROR = 0;
/** nghttp2's numbers for streams whose request has not ended: nothing has ended, and only the response has. */
const INCOMPLETE: readonly unknown[] = [2, 5];

/**
 * Cuts off slow callers over HTTP/2, as Node does over HTTP/1.1. A new connection must begin its first request within
 * `headersTimeoutMs`, and may then be without requests for `keepAliveMs`. A request must arrive within
 * `requestTimeoutMs`.
 */
export function limitHttp2(server: FastifyInstance, publicUrl: () => string, limits: Http2Limits): void {
  server.server.on("session", (session: ServerHttp2Session) => limitSession(session, publicUrl, limits));
}

function limitSession(
  session: ServerHttp2Session,
  publicUrl: () => string,
  { headersTimeoutMs, keepAliveMs, requestTimeoutMs }: Http2Limits,
): void {
  let openStreams = 0;
  let idle = setTimeout(() => session.destroy(), headersTimeoutMs);
  session.once("close", () => clearTimeout(idle));
  session.on("stream", (stream) => {
    openStreams += 1;
    clearTimeout(idle);
    const late = setTimeout(() => cutIfIncomplete(stream, publicUrl), requestTimeoutMs);
    stream.once("close", () => {
      clearTimeout(late);
      openStreams -= 1;
      if (openStreams === 0 && !session.closed) {
        idle = setTimeout(() => session.destroy(), keepAliveMs);
      }
    });
  });
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
