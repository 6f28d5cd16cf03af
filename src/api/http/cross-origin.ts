import type { FastifyInstance } from "fastify";
import { pathOf } from "./request-log.ts";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** A browser does not ask again for so long. Browsers take two hours at most. */
const PREFLIGHT_SECONDS = 7_200;
/** What scripts may read, beside what they always may. */
const EXPOSED = [
  ...["Accept-Patch", "Accept-Post", "Allow", "ETag", "Errand-Ignored", "Errand-Version"],
  ...["Idempotent-Replay", "Location", "Preference-Applied", "Retry-After", "retry-after-ms"],
  ...["RateLimit", "RateLimit-Policy", "WWW-Authenticate", "X-Request-Id", "x-should-retry"],
].join(", ");

/**
 * Lets scripts of other sites use the API with a bearer token (https://fetch.spec.whatwg.org/#http-cors-protocol). They
 * never act with the cookie of a visitor, because no answer allows credentials. `@fastify/cors` would add a route for
 * OPTIONS to every address, and unknown ones would then be 405 instead of 404.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) {
    return;
  }
  app.addHook("onRequest", async ({ headers, method, url }, reply) => {
    if (!pathOf(url).startsWith("/api/")) {
      return;
    }
    // Also on an answer to another origin, so that no cache gives it to this one.
    reply.header("vary", "Origin");
    const { origin, "access-control-request-method": wanted } = headers;
    if (origin === undefined || !origins.includes(origin)) {
      return;
    }
    reply.header("access-control-allow-origin", origin);
    if (method !== "OPTIONS" || wanted === undefined) {
      reply.header("access-control-expose-headers", EXPOSED);
      return;
    }
    const asked = headers["access-control-request-headers"];
    reply.headers({
      "access-control-allow-methods": METHODS,
      "access-control-max-age": PREFLIGHT_SECONDS,
      ...(typeof asked === "string" && { "access-control-allow-headers": asked }),
    });
    await reply.code(204).send();
  });
}
