import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { AnsweredRequests } from "./connections.ts";
import { type Problem, problemOf, retryHeaders, StatusError, statusOf } from "./errors.ts";
import { frameworkError } from "./framework-error.ts";
import { hideKeys } from "./hide-keys.ts";
import { newRequestId, pathOf } from "./request-id.ts";

const PROBLEM_TYPE = "application/problem+json";

export type ErrorAnswer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

interface ErrorPages {
  /** The page for a person whose browser met the error. */
  readonly errorPage: (problem: Problem) => string;
  readonly publicUrl: () => string;
}

/** Answers every error of the server as `application/problem+json`, and as a page to a person with a browser. */
export function answerErrors(log: FastifyBaseLogger, { errorPage, publicUrl }: ErrorPages): ErrorAnswer {
  return (thrown, request, reply) => {
    const error = asAppError(thrown, request);
    logOnce(log, request.id, { error, thrown });
    const problem = problemOf(error, {
      publicUrl: publicUrl(),
      // Hidden as in the log, so that a caller who publishes the response does not publish a key in the address.
      instance: hideKeys(pathOf(request.url)),
      traceId: request.id,
    });
    if (problem.status === 401) {
      reply.header("www-authenticate", "Bearer");
    }
    reply
      // The header belongs to a file that was about to be sent.
      .removeHeader("content-disposition")
      .code(problem.status)
      .headers({ ...retryHeaders(error), "x-request-id": request.id, "cache-control": "no-store" });
    return opensPage(request)
      ? reply.type("text/html; charset=utf-8").send(errorPage(problem))
      : reply.type(PROBLEM_TYPE).send(JSON.stringify(problem));
  };
}

/** True if a person opened the address in a browser. Programs and scripts get the error as JSON. */
function opensPage({ headers, method, url }: FastifyRequest): boolean {
  return (
    method === "GET" &&
    !url.startsWith("/api/") &&
    /(^|,)\s*text\/html\b/.test(headers.accept ?? "") &&
    !/\bjson\b/.test(headers.accept ?? "")
  );
}

/** Answers input that is not HTTP. There is no request yet, only a socket. */
export function answerBrokenRequest(
  publicUrl: () => string,
  answered: Pick<AnsweredRequests, "has">,
): (error: Error & { code?: string }, socket: Socket) => void {
  return ({ code }, socket) => {
    if (code === "ECONNRESET" || socket.destroyed) {
      return;
    }
    if (socket.writable && !answered.has(socket)) {
      socket.write(answerWithoutRequest(brokenRequest(code), publicUrl));
    }
    socket.destroySoon();
  };
}

function answerWithoutRequest(error: StatusError, publicUrl: () => string): string {
  const problem = problemOf(error, { publicUrl: publicUrl(), instance: "", traceId: newRequestId() });
  const [status, body] = [statusOf(error), JSON.stringify(problem)];
  return [
    `HTTP/1.1 ${status} ${REASON_PHRASES[status] ?? ""}`,
    "connection: close",
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${problem.trace_id}`,
    `x-should-retry: ${status === 408}`,
    "",
    body,
  ].join("\r\n");
}

function brokenRequest(code: string | undefined): StatusError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new StatusError(408, "invalid_request", "The request did not arrive in time.", {
      retryable: true,
    });
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new StatusError(431, "invalid_request", "The request's headers are too large.");
  }
  return new StatusError(400, "invalid_request", "This is not an HTTP request.");
}

/**
 * Not Node's own list: importing `node:http` by name also loads `fetch` and `WebSocket`, which take 13 MiB of memory.
 */
const REASON_PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function asAppError(thrown: unknown, { routeOptions }: FastifyRequest): AppError {
  if (thrown instanceof AppError) {
    return thrown;
  }
  return (
    frameworkError(thrown, routeOptions.bodyLimit) ??
    new AppError("internal_error", "Something went wrong.", { cause: thrown })
  );
}

function logOnce(
  log: FastifyBaseLogger,
  requestId: string,
  { error, thrown }: { readonly error: AppError; readonly thrown: unknown },
): void {
  const status = statusOf(error);
  if (!(thrown instanceof AppError) && status >= 500) {
    log.error({ requestId, error: thrown }, "request.failed");
  } else if (status >= 500) {
    log.warn({ requestId, code: error.code, error }, "request.unavailable");
  } else {
    log.debug({ requestId, code: error.code, issues: error.options.issues?.length }, "request.refused");
  }
}
