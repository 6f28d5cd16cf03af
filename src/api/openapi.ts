import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { tidyDocument } from "./openapi-tidy.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Headers that the route reads, named in the OpenAPI document. */
    readonly describedHeaders?: readonly string[];
  }
}

const HEADERS: Readonly<Record<string, string>> = {
  "Idempotency-Key": "Makes a repeat safe: the same key with the same request gives the first answer again.",
  "X-Run-Source": "`CLI`, `GITHUB_ACTION` or `LOCAL`; anything else counts as `API`.",
  "Last-Event-ID": "The id of the last event that was seen; the stream goes on behind it.",
};

const OPENAPI_PATH = "/api/v1/openapi.json";

/** The document is made from the same schemas that check the requests. */
export async function addOpenapi(server: FastifyInstance, publicUrl: string): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Errand",
        version: "1",
        description: "Runs of cloud coding agents: start, watch, steer, stop.",
      },
      servers: [{ url: publicUrl }],
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
      security: [{ key: [] }],
    },
    transform: (route) => {
      const { schema, url } = jsonSchemaTransform(route);
      return { url, schema: { ...schema, ...describedHeaders(route.route.config?.describedHeaders) } };
    },
    transformObject: (document) => tidyDocument(jsonSchemaTransformObject(document)),
  });
  server.get(OPENAPI_PATH, { schema: { hide: true } }, async () => server.swagger());
}

function describedHeaders(names: readonly string[] = []): { headers?: unknown } {
  if (names.length === 0) return {};
  const members = names.map((name) => [name, { type: "string", description: HEADERS[name] }]);
  return { headers: { type: "object", properties: Object.fromEntries(members) } };
}
