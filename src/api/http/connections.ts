import type { FastifyInstance } from "fastify";

/**
 * Logs connections that could not be accepted, for example because memory or descriptors are used up. Fastify no
 * longer handles these errors once the server listens, and an unhandled one would end the process.
 */
export function outliveAcceptErrors(server: FastifyInstance): void {
  server.addHook("onListen", async () => {
    server.server.on("error", (error) => server.log.warn({ error }, "server.accept.failed"));
  });
}

/**
 * Closes each connection after its current response while the server stops. Otherwise an idle connection would delay
 * the stop.
 */
export function closeConnectionsOnStop(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook("preClose", async () => {
    isClosing = true;
  });
  server.addHook("onSend", (_request, reply, payload, done) => {
    if (isClosing) {
      reply.header("connection", "close");
    }
    done(null, payload);
  });
}
