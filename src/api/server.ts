import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyServerOptions, fastify, LogController } from "fastify";
import type { z } from "zod";
import type { ApiDeps } from "./api-deps.ts";
import { nameVersion } from "./http/answer-headers.ts";
import { limitsOf } from "./http/api-limits.ts";
import { expandBodies } from "./http/compressed-bodies.ts";
import { AnsweredRequests, closeConnectionsOnStop, outliveAcceptErrors } from "./http/connections.ts";
import { allowOrigins } from "./http/cross-origin.ts";
import { announceDeprecations } from "./http/deprecation.ts";
import { answerBrokenRequest, answerErrors } from "./http/error-answers.ts";
import { addRequestLog, requestIdOf } from "./http/request-log.ts";
import { limitRequestMemory } from "./http/request-memory.ts";
import { compileValidator } from "./http/request-validation.ts";
import { addSecurityHeaders } from "./http/security-headers.ts";
import { collectPaths, refuseUnmatched } from "./http/unmatched-routes.ts";
import { refuseUnusableHeaders } from "./http/unusable-headers.ts";
import { errorPage } from "./pages/error-page.ts";
import { healthRoutes } from "./routes/health.ts";

export type { ApiDeps } from "./api-deps.ts";
export type { ApiLimits } from "./http/api-limits.ts";

/** Returns the HTTP server, ready to listen. Closing it ends all streams at once. */
export async function createServer(deps: ApiDeps): Promise<FastifyInstance> {
  const server = bareServer(deps);
  server.decorateRequest("caller", undefined);
  const paths = collectPaths(server);
  outliveAcceptErrors(server, deps.log);
  closeConnectionsOnStop(server, deps.draining);
  expandBodies(server);
  limitRequestMemory(server, limitsOf(deps.limits).unansweredBodies);
  // Loaded only where the routes are served, because they are most of this folder.
  const all = deps.serves === "everything" ? await import("./all-routes.ts") : undefined;
  if (all !== undefined) {
    // Beside the scope of the API and the pages, whose hooks do not apply to them: a forged event must cost as little as
    // possible. These routes log what they store, and their responses are not for browsers.
    for (const routes of deps.adapterRoutes) {
      await server.register(routes);
    }
    await all.addOpenapi(server);
  }
  await server.register(async (app) => {
    addRequestLog(app, deps.log);
    nameVersion(app);
    await addSecurityHeaders(app, deps.publicUrl());
    allowOrigins(app, deps.allowedOrigins);
    refuseUnusableHeaders(app);
    refuseUnmatched(app, paths);
    announceDeprecations(app);
    await app.register(healthRoutes(deps));
    await all?.addRoutes(app, deps);
  });
  await server.ready();
  return server;
}

/** Slightly more than the longest name in a path, which is the name of a secret. */
const PARAMETER_LENGTH_MAX = 200;

function bareServer(deps: ApiDeps): FastifyInstance {
  const limits = limitsOf(deps.limits);
  const answer = answerErrors(deps.log, { errorPage, publicUrl: deps.publicUrl });
  const answered = new AnsweredRequests();
  const connections = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // Node's own error response has no body. `refuseUnusableHeaders` sends one in the usual format.
    requireHostHeader: false,
  };
  const options = {
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: requestIdOf,
    bodyLimit: limits.bodyBytes,
    connectionTimeout: limits.connectionTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    schemaController: { compilersFactory: { buildValidator: unneeded, buildSerializer: unneeded } },
    trustProxy: trustHops(deps.trustProxy),
    // During the close, requests that have already arrived are still answered in the usual format.
    return503OnClosing: false,
    frameworkErrors: answer,
    clientErrorHandler: answerBrokenRequest(deps.publicUrl, answered),
  };
  const server = deps.tls
    ? secureServer(deps.tls, options, connections)
    : fastify({ ...options, http: connections });
  server.setErrorHandler(answer);
  answered.watch(server);
  server.setValidatorCompiler<z.ZodType>(compileValidator);
  // Responses are typed by the same schemas. Validating each one would turn an unexpected stored value into a 500.
  server.setSerializerCompiler(() => (body) => JSON.stringify(body));
  return server;
}

/** The types of the servers differ, but both have the methods used here. */
function secureServer(
  tls: NonNullable<ApiDeps["tls"]>,
  options: Omit<FastifyServerOptions, "http" | "https">,
  connections: { readonly headersTimeout: number },
): FastifyInstance {
  // Node's default for the handshake is two minutes. A caller without a handshake is no caller yet.
  const https = { ...connections, handshakeTimeout: connections.headersTimeout, ...tls };
  const server = fastify({ ...(options as object), https });
  // An error response cannot be sent before the handshake, so the connection would stay open.
  server.server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  return server as unknown as FastifyInstance;
}

/** Replaces Fastify's default compilers, because Fastify would load about a hundred files for them. */
function unneeded(): never {
  throw new Error("The server's compilers are set.");
}

/**
 * Each proxy appends its caller's address to what the caller sent, so only the last `hops` addresses are trustworthy.
 * Fastify treats a bare number as "trust nobody" and `true` as "trust everybody", which accepts what the client
 * wrote.
 */
function trustHops(hops: number | false): false | ((address: string, hop: number) => boolean) {
  return hops !== false && ((_address, hop) => hop < hops);
}
