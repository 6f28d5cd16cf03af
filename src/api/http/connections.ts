import type { FastifyInstance, FastifyReply } from "fastify";

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
      closeAfter(reply);
    }
    done(null, payload);
  });
}

/** Closes the connection after this response. HTTP/2 forbids the header: one connection carries many responses. */
export function closeAfter(reply: FastifyReply): void {
  if (reply.request.raw.httpVersionMajor < 2) {
    reply.header("connection", "close");
  }
}
