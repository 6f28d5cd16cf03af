import type { FastifyInstance } from "fastify";

/** When the old names were deprecated, and the earliest day of their removal: at least six months later. */
const DEPRECATED_AT = new Date("2026-11-20T00:00:00Z");
const SUNSET_AT = new Date("2027-11-20T00:00:00Z");

const HEADERS = {
  deprecation: `@${DEPRECATED_AT.getTime() / 1_000}`,
  sunset: SUNSET_AT.toUTCString(),
  link: '</docs>; rel="deprecation"; type="text/html"',
};

/** Operations that the document calls deprecated say so in each answer, refusals too (RFC 9745, RFC 8594). */
export function announceDeprecations(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ routeOptions: { schema } }, reply) => {
    if (schema !== undefined && "deprecated" in schema && schema.deprecated === true) reply.headers(HEADERS);
  });
}
