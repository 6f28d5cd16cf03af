import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { AnsweredRequests } from "./connections.ts";
import { bodyTooLarge, type Problem, problemOf, retryHeaders, StatusError, statusOf } from "./errors.ts";
import { hideKeys } from "./hide-keys.ts";
import { newRequestId, pathOf } from "./request-log.ts";

const PROBLEM_TYPE = "application/problem+json";

export type ErrorAnswer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

interface ProblemDeps {
  readonly log: FastifyBaseLogger;
  readonly publicUrl: () => string;
}

interface ErrorPages extends Pick<ProblemDeps, "publicUrl"> {
  /** The page for a person whose browser met the error. */
  readonly errorPage: (problem: Problem) => string;
}

/** Logs an error of a request. Returns what its caller is told. */
export function loggedProblem({ log, publicUrl }: ProblemDeps, thrown: unknown, request: FastifyRequest) {
  const error = asAppError(thrown, request);
  logOnce(log, request.id, { error, thrown });
  const problem = problemOf(error, {
    publicUrl: publicUrl(),
    // Hidden as in the log, so that a caller who publishes the response does not publish a key in the address.
    instance: hideKeys(pathOf(request.url)),
    traceId: request.id,
    hasBody: typeof request.body === "object" && request.body !== null,
  });
  return { error, problem };
}

/** Answers every error of the server as `application/problem+json`, and as a page to a person with a browser. */
export function answerErrors(log: FastifyBaseLogger, { errorPage, publicUrl }: ErrorPages): ErrorAnswer {
  return (thrown, request, reply) => {
    const { error, problem } = loggedProblem({ log, publicUrl }, thrown, request);
    if (problem.status === 401) {
      reply.header("www-authenticate", "Bearer");
    }
    const accepting = ACCEPTING[request.method];
    if (problem.status === 415 && accepting !== undefined && !reply.hasHeader("accept-encoding")) {
      reply.header(accepting, "application/json");
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

const FORM = /^application\/x-www-form-urlencoded\b/i;

/** The header that says which bodies a method accepts. */
const ACCEPTING: Readonly<Record<string, string>> = { PATCH: "accept-patch", POST: "accept-post" };

/** True if a person opened the address or sent a form in a browser. Programs and scripts get the error as JSON. */
function opensPage({ headers, method, url }: FastifyRequest): boolean {
  return (
    (method === "GET" || (method === "POST" && FORM.test(headers["content-type"] ?? ""))) &&
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

interface Refusal {
  readonly message: string;
  readonly remedy: string;
}

const SEND_JSON = "Send UTF-8 JSON with Content-Type: application/json.";

const REFUSALS: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    message: "This content type is not supported here.",
    remedy: SEND_JSON,
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    message: "The length of the body differs from the Content-Length header.",
    remedy: "Send the length of the body in bytes, not in characters.",
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { message: "The body is not valid JSON.", remedy: SEND_JSON },
  FST_ERR_CTP_EMPTY_JSON_BODY: { message: "The body is empty.", remedy: SEND_JSON },
  FST_ERR_BAD_URL: {
    message: "The address is malformed.",
    remedy:
      "Check the address: a % must be followed by two hexadecimal digits, and the result must be UTF-8.",
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    message: "There is nothing at this address.",
    remedy: "Check the address: one of its segments is longer than any id.",
  },
};
const UNREADABLE: Refusal = {
  message: "The request cannot be read.",
  remedy: "Check the address, headers and body of the request.",
};

/**
 * Converts an error that Fastify itself throws. Returns undefined for other errors. The message is replaced, because
 * Fastify's message may quote the input.
 */
export function frameworkError(thrown: unknown, bodyLimit: number): AppError | undefined {
  if (!(thrown instanceof Error) || !("statusCode" in thrown)) {
    return undefined;
  }
  const status = Number(thrown.statusCode);
  if (!(status >= 400 && status < 500)) {
    return undefined;
  }
  const code = "code" in thrown ? String(thrown.code) : "";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return bodyTooLarge(bodyLimit);
  }
  const { message, remedy } = REFUSALS[code] ?? UNREADABLE;
  if (status === 404 || code === "FST_ERR_MAX_PARAM_LENGTH") {
    return new AppError("resource_not_found", message, { remedy });
  }
  return new StatusError(status, "invalid_request", message, { remedy });
}
