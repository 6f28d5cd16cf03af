import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hideKeys } from "./hide-keys.ts";

/** Probes and files of the pages are frequent and not interesting. */
const QUIET = /^\/(healthz|readyz|assets\/)/;

/**
 * Logs one line per request, without its query, headers and body. Every line about a request has its id, and so has
 * its response.
 */
export function addRequestLog(server: FastifyInstance, log: FastifyBaseLogger): void {
  // Fastify itself gets no logger, because it would then spend about 4 µs on each webhook.
  server.setChildLoggerFactory((_none, { requestId }) => log.child({ requestId }));
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  server.addHook("onResponse", (request, reply, done) => {
    const path = pathOf(request.url);
    const level = QUIET.test(path) ? "debug" : "info";
    request.log[level](factsOf(request, reply, path), "request.answered");
    done();
  });
}

function factsOf(request: FastifyRequest, reply: FastifyReply, path: string): Record<string, unknown> {
  return {
    method: request.method,
    path: hideKeys(path),
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime),
    principalId: request.caller?.holder?.principal.id,
    shareLinkId: guestLinkOf(request),
  };
}

function guestLinkOf({ caller }: FastifyRequest): string | undefined {
  return caller?.holder === undefined ? caller?.viewer.id : undefined;
}

/** Short, without characters that could break a log line, a header or a page. */
const SAFE = /^[A-Za-z0-9._:/+=~-]{1,128}$/;

/** Returns the caller's own id of the request if it is valid, otherwise a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const id = headers["x-request-id"];
  return typeof id === "string" && SAFE.test(id) ? id : newRequestId();
}

export function newRequestId(): string {
  return randomUUID();
}

/** Returns the path without the query, which may contain private data. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
