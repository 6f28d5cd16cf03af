import type { FastifyPluginAsync } from "fastify";
import { ERRAND_FILE_SCHEMA_PATH, errandFileJsonSchema } from "./schema.ts";

/** The routes, and the JSON Schema of the file for editors. */
export function withErrandFileSchema(routes: FastifyPluginAsync): FastifyPluginAsync {
  const schema = JSON.stringify(errandFileJsonSchema());
  return async (server) => {
    await server.register(routes);
    server.get(ERRAND_FILE_SCHEMA_PATH, { schema: { hide: true } }, (_request, reply) =>
      reply.type("application/schema+json; charset=utf-8").send(schema),
    );
  };
}
