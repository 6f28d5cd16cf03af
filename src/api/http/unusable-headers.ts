import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";

/**
 * Node answers both by itself, before any route and without a body: a request without `Host`, and one that expects what
 * there is not. Here they go the way of all requests, so that their refusals have the one shape and are logged.
 */
export function refuseUnusableHeaders(server: FastifyInstance): void {
  const unmet = new WeakSet<IncomingMessage>();
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request);
    server.server.emit("request", request, response);
  });
  server.addHook("onRequest", async ({ raw }, reply) => {
    if (!lacksHost(raw) && !unmet.has(raw)) return;
    // A body may follow that nobody waits for.
    reply.header("connection", "close");
    throw lacksHost(raw) ? noHost() : unmetExpectation();
  });
}

/** HTTP/1.0 has no such header; simple probes still speak it. */
function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.host === undefined;
}

function noHost(): StatusError {
  return new StatusError(400, "invalid_request", "The request has no Host header.", {
    remedy: "Send the Host header, as HTTP/1.1 demands.",
  });
}

function unmetExpectation(): StatusError {
  return new StatusError(417, "invalid_request", "The Expect header asks for what there is not here.", {
    remedy: "Leave the Expect header out, or send 100-continue.",
  });
}
