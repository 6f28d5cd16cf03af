import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import { ShareLinkService } from "../core/people/share-link-service.ts";
import { type ApiParts, limitsOf } from "./api-parts.ts";
import { apiRoutes } from "./api-routes.ts";
import { type AuthParts, addAuthentication } from "./auth.ts";
import { closeConnectionsOnStop } from "./closing-connections.ts";
import { announceDeprecations } from "./deprecation.ts";
import { addErrorAnswers, answerBrokenRequest, answerErrors } from "./error-answers.ts";
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
import { requestIdOf } from "./request-id.ts";
import { addRequestLog } from "./request-log.ts";
import { compileValidator } from "./request-validation.ts";
import { healthRoutes } from "./routes/health.ts";
import { addSecurityHeaders } from "./security-headers.ts";
import { SessionCookies } from "./session-cookie.ts";

export type { ApiLimits, ApiParts } from "./api-parts.ts";

/** The whole HTTP side, ready to listen. Closing it ends all streams at once. */
export async function createServer(parts: ApiParts): Promise<FastifyInstance> {
  const server = bareServer(parts);
  server.decorateRequest("caller", undefined);
  addErrorAnswers(server, answerErrors(parts.publicUrl));
  addRequestLog(server);
  closeConnectionsOnStop(server);
  await addSecurityHeaders(server, parts.publicUrl());
  announceDeprecations(server);
  await server.register(healthRoutes(parts));
  if (parts.serves === "everything") await addRoutes(server, parts);
  await server.ready();
  return server;
}

async function addRoutes(server: FastifyInstance, parts: ApiParts): Promise<void> {
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

/** A little more than the longest name that may stand in a path: a secret's. */
const PARAMETER_LENGTH_MAX = 200;

function bareServer(parts: ApiParts): FastifyInstance {
  const limits = limitsOf(parts);
  const answer = answerErrors(parts.publicUrl);
  const loggerInstance: FastifyBaseLogger = parts.log;
  const connections = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  };
  const options = {
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: requestIdOf,
    bodyLimit: limits.bodyBytes,
    connectionTimeout: limits.connectionTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    trustProxy: trustHops(parts.trustProxy),
    // While closing, what is already here is still answered, in the shape of all other answers.
    return503OnClosing: false,
    frameworkErrors: answer,
    clientErrorHandler: answerBrokenRequest(parts.publicUrl),
  };
  const server = parts.tls
    ? // The types tell servers with and without TLS apart; what is asked of them here is the same.
      (fastify({ ...options, https: { ...connections, ...parts.tls } }) as unknown as FastifyInstance)
    : fastify({ ...options, http: connections });
  server.setValidatorCompiler(compileValidator);
  // Answers are typed by the same schemas; checking each one again would turn an odd stored value into a 500.
  server.setSerializerCompiler(() => (body) => JSON.stringify(body));
  return server;
}

/**
 * Each proxy adds its caller behind what the caller itself claimed, so only the last `hops` words are theirs. Fastify
 * takes a bare number for "nobody", and `true` for "everybody", which believes what the client wrote.
 */
function trustHops(hops: number | false): false | ((address: string, hop: number) => boolean) {
  return hops !== false && ((_address, hop) => hop < hops);
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
