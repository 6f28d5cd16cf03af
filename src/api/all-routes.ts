import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { ShareLinkService } from "../core/team/keys/share-link-service.ts";
import type { ApiDeps } from "./api-deps.ts";
import { apiRoutes } from "./api-routes.ts";
import { type AuthDeps, addAuthentication } from "./auth/authentication.ts";
import { SessionCookies } from "./auth/cookies.ts";
import { ApiKeyCache, SignInCache } from "./auth/credential-caches.ts";
import { Guests } from "./auth/guests.ts";
import { limitsOf } from "./http/api-limits.ts";
import { compressAnswers } from "./http/compression.ts";
import { nameIgnored } from "./http/ignored-members.ts";
import { readJsonBodies } from "./http/json-body.ts";
import { structureQueries } from "./http/query.ts";
import { createRateLimit, type RateLimit } from "./http/rate-limit.ts";
import { ResponseMemory } from "./http/response-memory.ts";
import { openapiRoute } from "./openapi/openapi.ts";
import { referencePage } from "./openapi/reference-page.ts";
import { devicePages } from "./pages/device-pages.ts";
import { problemPages } from "./pages/error-page.ts";
import { installPages } from "./pages/install-pages.ts";
import { pageRoutes } from "./pages/page-routes.ts";
import { providerPages } from "./pages/provider-pages.ts";
import { signInLinkPages } from "./pages/sign-in-link-pages.ts";
import { signInRoutes } from "./pages/sign-in-routes.ts";
import { Idempotency } from "./routes/idempotency.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { serverProofRoutes } from "./routes/server-proof.ts";

export { addOpenapi } from "./openapi/openapi.ts";

/** Registers the API and the pages. */
export async function addRoutes(app: FastifyInstance, deps: ApiDeps): Promise<void> {
  const auth = authDeps(deps);
  app.addHook("onClose", async () => auth.keys.close());
  compressAnswers(app);
  await app.register(cookie);
  await app.register(openapiRoute);
  await app.register(referencePage);
  await app.register(serverProofRoutes(deps));
  const limit = createRateLimit(deps.clock, limitsOf(deps.limits));
  await app.register(api(deps, auth, limit), { prefix: "/api/v1" });
  await app.register(async (scope) => {
    addAuthentication(scope, auth, limit);
    await scope.register(metricsRoutes(deps));
  });
  await app.register(signInRoutes(deps, auth));
  await app.register(providerPages(deps, auth));
  await app.register(installPages(deps, auth));
  await app.register(signInLinkPages(deps, auth));
  await app.register(devicePages(deps, auth));
  await app.register(pageRoutes(deps, auth));
  await app.register(problemPages);
}

function authDeps(deps: ApiDeps): AuthDeps {
  const keys = new ApiKeyCache({ ...deps, keys: deps.storage.keys });
  const signIns = new SignInCache({ ...deps, signIns: deps.storage.signIns });
  keys.onChange(() => signIns.clear());
  return {
    keys,
    signIns,
    cookies: new SessionCookies(deps),
    guests: new Guests({ ...deps, links: new ShareLinkService(deps) }),
    publicUrl: deps.publicUrl,
  };
}

function api(deps: ApiDeps, auth: AuthDeps, limit: RateLimit): (app: FastifyInstance) => Promise<void> {
  const idempotency = new Idempotency(deps);
  const memory = new ResponseMemory(limitsOf(deps.limits).unreadResponses);
  return async (app) => {
    readJsonBodies(app);
    nameIgnored(app);
    structureQueries(app);
    addAuthentication(app, auth, limit);
    memory.watch(app);
    app.addHook("onRequest", async (_request, reply) => {
      reply.header("cache-control", "no-store");
    });
    for (const routes of apiRoutes) {
      await app.register(routes({ ...deps, memory }, idempotency));
    }
  };
}
