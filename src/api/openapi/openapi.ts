import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { describeRoute } from "./openapi-route.ts";
import { DESCRIPTION, TAGS } from "./openapi-text.ts";
import { tidyDocument } from "./openapi-tidy.ts";

export const OPENAPI_PATH = "/api/v1/openapi.json";

/**
 * Builds the document from the schemas that validate the requests. Must be called before the described routes are
 * registered.
 */
export async function addOpenapi(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Errand",
        version: "1",
        description: DESCRIPTION,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      // A relative URL, so that the document is the same on every server.
      servers: [{ url: "/", description: "This server." }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key." } },
      },
      security: [{ key: [] }],
    },
    transform: describeRoute,
    transformObject: (document) => tidyDocument(jsonSchemaTransformObject(document)),
  });
}

/** Serves the document. */
export async function openapiRoute(app: FastifyInstance): Promise<void> {
  // Bytes, because each answer that its caller does not read would have its own copy of a text.
  let bytes: Buffer | undefined;
  app.get(OPENAPI_PATH, { schema: { hide: true } }, async (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type("application/json; charset=utf-8").send(bytes);
  });
}
