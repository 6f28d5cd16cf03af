import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import { type ApiDeps, limitsOf } from "./api-deps.ts";
import { outliveAcceptErrors } from "./http/accept-errors.ts";
import { closeConnectionsOnStop } from "./http/closing-connections.ts";
import { announceDeprecations } from "./http/deprecation.ts";
import { addErrorAnswers, answerBrokenRequest, answerErrors } from "./http/error-answers.ts";
import { requestIdOf } from "./http/request-id.ts";
import { addRequestLog } from "./http/request-log.ts";
import { compileValidator } from "./http/request-validation.ts";
import { addSecurityHeaders } from "./http/security-headers.ts";
import { refuseUnusableHeaders } from "./http/unusable-headers.ts";
import { healthRoutes } from "./routes/health.ts";

export type { ApiDeps, ApiLimits } from "./api-deps.ts";

/** The whole HTTP side, ready to listen. Closing it ends all streams at once. */
export async function createServer(deps: ApiDeps): Promise<FastifyInstance> {
  const server = bareServer(deps);
  server.decorateRequest("caller", undefined);
  addErrorAnswers(server, answerErrors(deps.publicUrl));
  addRequestLog(server);
  refuseUnusableHeaders(server);
  outliveAcceptErrors(server);
  closeConnectionsOnStop(server);
  await addSecurityHeaders(server, deps.publicUrl());
  announceDeprecations(server);
  await server.register(healthRoutes(deps));
  // Loaded only where they are served: they are most of this folder.
  if (deps.serves === "everything") await (await import("./all-routes.ts")).addRoutes(server, deps);
  await server.ready();
  return server;
}

/** A little more than the longest name that may stand in a path: a secret's. */
const PARAMETER_LENGTH_MAX = 200;

function bareServer(deps: ApiDeps): FastifyInstance {
  const limits = limitsOf(deps);
  const answer = answerErrors(deps.publicUrl);
  const loggerInstance: FastifyBaseLogger = deps.log;
  const connections = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // Node's own refusal has no body; ours is in the shape of all others.
    requireHostHeader: false,
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
    schemaController: { compilersFactory: { buildValidator: unneeded, buildSerializer: unneeded } },
    trustProxy: trustHops(deps.trustProxy),
    // While closing, what is already here is still answered, in the shape of all other answers.
    return503OnClosing: false,
    frameworkErrors: answer,
    clientErrorHandler: answerBrokenRequest(deps.publicUrl),
  };
  const server = deps.tls
    ? // The types tell servers with and without TLS apart; what is asked of them here is the same.
      (fastify({ ...options, https: { ...connections, ...deps.tls } }) as unknown as FastifyInstance)
    : fastify({ ...options, http: connections });
  server.setValidatorCompiler(compileValidator);
  // Answers are typed by the same schemas; checking each one again would turn an odd stored value into a 500.
  server.setSerializerCompiler(() => (body) => JSON.stringify(body));
  return server;
}

/** We set our own compilers. Unless it is told of others, Fastify loads its own before: a hundred files. */
function unneeded(): never {
  throw new Error("The server's compilers are set.");
}

/**
 * Each proxy adds its caller behind what the caller itself claimed, so only the last `hops` words are theirs. Fastify
 * takes a bare number for "nobody", and `true` for "everybody", which believes what the client wrote.
 */
function trustHops(hops: number | false): false | ((address: string, hop: number) => boolean) {
  return hops !== false && ((_address, hop) => hop < hops);
}
