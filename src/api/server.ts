import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import { outliveAcceptErrors } from "./accept-errors.ts";
import { type ApiParts, limitsOf } from "./api-parts.ts";
import { closeConnectionsOnStop } from "./closing-connections.ts";
import { announceDeprecations } from "./deprecation.ts";
import { addErrorAnswers, answerBrokenRequest, answerErrors } from "./error-answers.ts";
import { requestIdOf } from "./request-id.ts";
import { addRequestLog } from "./request-log.ts";
import { compileValidator } from "./request-validation.ts";
import { healthRoutes } from "./routes/health.ts";
import { addSecurityHeaders } from "./security-headers.ts";
import { refuseUnusableHeaders } from "./unusable-headers.ts";

export type { ApiLimits, ApiParts } from "./api-parts.ts";

/** The whole HTTP side, ready to listen. Closing it ends all streams at once. */
export async function createServer(parts: ApiParts): Promise<FastifyInstance> {
  const server = bareServer(parts);
  server.decorateRequest("caller", undefined);
  addErrorAnswers(server, answerErrors(parts.publicUrl));
  addRequestLog(server);
  refuseUnusableHeaders(server);
  outliveAcceptErrors(server);
  closeConnectionsOnStop(server);
  await addSecurityHeaders(server, parts.publicUrl());
  announceDeprecations(server);
  await server.register(healthRoutes(parts));
  // Loaded only where they are served: they are most of this folder.
  if (parts.serves === "everything") await (await import("./all-routes.ts")).addRoutes(server, parts);
  await server.ready();
  return server;
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
