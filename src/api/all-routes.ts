import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { ShareLinkService } from "../core/team/keys/share-link-service.ts";
import type { ApiDeps } from "./api-deps.ts";
import { apiRoutes } from "./api-routes.ts";
import { type AuthDeps, addAuthentication } from "./auth/authentication.ts";
import { SessionCookies } from "./auth/cookies.ts";
import { ApiKeyCache, SignInCache } from "./auth/credential-caches.ts";
import { Guests } from "./auth/guests.ts";
import { OpenStreams } from "./events/open-streams.ts";
import { nameLocations } from "./http/answer-headers.ts";
import { limitsOf } from "./http/api-limits.ts";
import { compressAnswers } from "./http/compression.ts";
import { refuseUnusedConditions, tagAnswers } from "./http/entity-tags.ts";
import { nameIgnored } from "./http/ignored-members.ts";
import { readJsonBodies } from "./http/json-body.ts";
import { structureQueries } from "./http/query.ts";
import { createRateLimit, type RateLimit } from "./http/rate-limit.ts";
import { ResponseMemory } from "./http/response-memory.ts";
import { openapiRoute } from "./openapi/openapi.ts";
import { referencePage } from "./openapi/reference-page.ts";
import { createAppPages } from "./pages/create-app-pages.ts";
import { devicePages } from "./pages/device-pages.ts";
import { problemPages } from "./pages/error-page.ts";
import { installPages } from "./pages/install-pages.ts";
import { pageRoutes } from "./pages/page-routes.ts";
import { providerPages } from "./pages/provider-pages.ts";
import { signInLinkPages } from "./pages/sign-in-link-pages.ts";
import { signInRoutes } from "./pages/sign-in-routes.ts";
import { pageCollections } from "./routes/collection-pages.ts";
import { Idempotency } from "./routes/idempotency.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { serverProofRoutes } from "./routes/server-proof.ts";

export { addOpenapi } from "./openapi/openapi.ts";

/** Registers the API and the pages. */
export async function addRoutes(app: FastifyInstance, deps: ApiDeps): Promise<void> {
  const auth = authDeps(deps);
  app.addHook("onClose", async () => auth.keys.close());
  tagAnswers(app);
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
  await app.register(createAppPages(deps, auth));
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
  const limits = limitsOf(deps.limits);
  const memory = new ResponseMemory(limits.unreadResponses);
  const streams = new OpenStreams(limits);
  return async (app) => {
    readJsonBodies(app);
    nameIgnored(app);
    structureQueries(app);
    addAuthentication(app, auth, limit);
    refuseUnusedConditions(app);
    nameLocations(app);
    pageCollections(app, deps.sessionSecret);
    memory.watch(app);
    app.addHook("onRequest", (_request, reply, done) => {
      reply.header("cache-control", "no-store");
      done();
    });
    app.addHook("preClose", async () => streams.endAll());
    for (const routes of apiRoutes) {
      await app.register(routes({ ...deps, memory, streams }, idempotency));
    }
  };
}
