import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";

/**
 * Passes requests without `Host` and with an unknown expectation to the hooks, so that their errors have the usual
 * format and are logged. Otherwise Node answers them itself, without a body. Also refuses headers that were sent twice
 * although only one counts: Node uses the first, and a proxy in front may have checked the last.
 */
export function refuseUnusableHeaders(server: FastifyInstance): void {
  const unmet = new WeakSet<IncomingMessage>();
  server.server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request);
    server.server.emit("request", request, response);
  });
  server.addHook("onRequest", ({ raw }, reply, done) => {
    const problem = problemOf(raw) ?? (unmet.has(raw) ? unmetExpectation() : undefined);
    if (problem !== undefined) {
      // An unread body may follow.
      reply.header("connection", "close");
    }
    done(problem);
  });
}

function problemOf(request: IncomingMessage): StatusError | undefined {
  if (lacksHost(request)) {
    return noHost();
  }
  const repeated = repeatedHeader(request.rawHeaders);
  return repeated === undefined ? undefined : sentTwice(repeated);
}

/** Node itself refuses a second `Content-Length` and one beside `Transfer-Encoding`. */
const SINGLE: ReadonlySet<string> = new Set([
  "host",
  "authorization",
  "content-type",
  "origin",
  "sec-fetch-site",
]);

function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    if (seen.has(name) && SINGLE.has(name)) {
      return name;
    }
    seen.add(name);
  }
  return undefined;
}

function sentTwice(name: string): StatusError {
  return new StatusError(400, "invalid_request", `The request has several ${name} headers.`, {
    remedy: "Send the header once.",
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
