import type { FastifyInstance } from "fastify";

/** The date of the deprecation, and the earliest date of the removal: at least six months later. */
const DEPRECATED_AT = new Date("2026-11-20T00:00:00Z");
const SUNSET_AT = new Date("2027-11-20T00:00:00Z");

const HEADERS = {
  deprecation: `@${DEPRECATED_AT.getTime() / 1_000}`,
  sunset: SUNSET_AT.toUTCString(),
  link: '</docs>; rel="deprecation"; type="text/html"',
};

/** Adds the deprecation headers to all responses of deprecated operations, including errors (RFC 9745, RFC 8594). */
export function announceDeprecations(app: FastifyInstance): void {
  app.addHook("onRequest", ({ routeOptions: { schema } }, reply, done) => {
    if (schema !== undefined && "deprecated" in schema && schema.deprecated === true) {
      reply.headers(HEADERS);
    }
    done();
  });
}
