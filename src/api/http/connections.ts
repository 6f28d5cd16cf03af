import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";

/**
 * Logs connections that could not be accepted, for example because memory or descriptors are used up. Fastify no
 * longer handles these errors once the server listens, and an unhandled one would end the process.
 */
export function outliveAcceptErrors(server: FastifyInstance, log: FastifyBaseLogger): void {
  server.addHook("onListen", async () => {
    server.server.on("error", (error) => log.warn({ error }, "server.accept.failed"));
  });
}

const IDLE_LOOK_MS = 100;

/**
 * Closes each connection after its next response once the server is about to stop. A caller that would use a connection
 * again would otherwise meet a closed one, and an idle connection would delay the stop.
 */
export function closeConnectionsOnStop(server: FastifyInstance, draining: AbortSignal | undefined): void {
  let isClosing = false;
  server.addHook("preClose", async () => {
    isClosing = true;
    // A response that is being sent now leaves its connection idle after the close has looked for idle ones.
    const timer = setInterval(() => server.server.closeIdleConnections(), IDLE_LOOK_MS).unref();
    server.server.once("close", () => clearInterval(timer));
  });
  server.addHook("onSend", (_request, reply, payload, done) => {
    if (isClosing || draining?.aborted === true) {
      reply.header("connection", "close");
    }
    done(null, payload);
  });
}

/**
 * Knows whether a request that has not arrived completely was answered. An error that comes later, for example because
 * the rest of its body does not arrive, must not be answered again: the caller would take that for the answer to its
 * next request.
 */
export class AnsweredRequests {
  readonly #last = new WeakMap<Socket, ServerResponse>();

  watch(server: FastifyInstance): void {
    server.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#last.set(request.socket, response);
    });
  }

  /** False once the request has arrived completely: an error then concerns the next one. */
  has(socket: Socket): boolean {
    const last = this.#last.get(socket);
    return last?.headersSent === true && !last.req.complete;
  }
}
