import type { FastifyInstance } from "fastify";
import { ShareLinkService } from "../core/people/share-link-service.ts";
import { type ApiParts, limitsOf } from "./api-parts.ts";
import { apiRoutes } from "./api-routes.ts";
import { type AuthParts, addAuthentication } from "./auth.ts";
import { Guests } from "./guests.ts";
import { Idempotency } from "./idempotency.ts";
import { readJsonBodies } from "./json-body.ts";
import { KnownKeys } from "./known-keys.ts";
import { addOpenapi } from "./openapi.ts";
import { pageRoutes } from "./pages/page-routes.ts";
import { problemPages } from "./pages/problem-pages.ts";
import { signInRoutes } from "./pages/sign-in-routes.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import { referencePage } from "./reference-page.ts";
import { SessionCookies } from "./session-cookie.ts";

/** The API, the pages and what the adapters listen to. */
export async function addRoutes(server: FastifyInstance, parts: ApiParts): Promise<void> {
  const auth = authParts(parts);
  server.addHook("onClose", async () => auth.keys.close());
  await addOpenapi(server);
  await server.register(referencePage);
  const limit = await createRateLimit(server, limitsOf(parts));
  await server.register(api(parts, auth, limit), { prefix: "/api/v1" });
  await server.register(signInRoutes(parts, auth));
  await server.register(pageRoutes(parts, auth));
  await server.register(problemPages);
  for (const routes of parts.adapterRoutes) await server.register(routes);
}

function authParts(parts: ApiParts): AuthParts {
  return {
    cookies: new SessionCookies(parts),
    guests: new Guests({ ...parts, links: new ShareLinkService(parts) }),
    keys: new KnownKeys({ ...parts, keys: parts.storage.keys }),
  };
}

function api(parts: ApiParts, auth: AuthParts, limit: RateLimit): (app: FastifyInstance) => Promise<void> {
  const idempotency = new Idempotency(parts);
  return async (app) => {
    readJsonBodies(app);
    addAuthentication(app, auth, limit);
    app.addHook("onRequest", async (_request, reply) => {
      reply.header("cache-control", "no-store");
    });
    for (const routes of apiRoutes) await app.register(routes(parts, idempotency));
  };
}
