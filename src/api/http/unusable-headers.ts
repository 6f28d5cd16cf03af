import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";

/**
 * Passes requests without `Host` and with an unknown expectation to the hooks, so that their errors have the usual
 * format and are logged. Otherwise Node answers them itself, without a body.
 */
export function refuseUnusableHeaders(server: FastifyInstance): void {
  const unmet = new WeakSet<IncomingMessage>();
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request);
    server.server.emit("request", request, response);
  });
  server.addHook("onRequest", async ({ raw }, reply) => {
    if (!lacksHost(raw) && !unmet.has(raw)) {
      return;
    }
    // An unread body may follow.
    reply.header("connection", "close");
    throw lacksHost(raw) ? noHost() : unmetExpectation();
  });
}

/** HTTP/1.0 has no such header, and simple probes still use HTTP/1.0. */
function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.host === undefined;
}

function noHost(): StatusError {
  return new StatusError(400, "invalid_request", "The request has no Host header.", {
    remedy: "Send the Host header, which HTTP/1.1 requires.",
  });
}

function unmetExpectation(): StatusError {
  return new StatusError(417, "invalid_request", "The expectation in the Expect header is not supported.", {
    remedy: "Omit the Expect header, or send 100-continue.",
  });
}
