import type { FastifyInstance } from "fastify";

/**
 * A connection that could not be accepted, for want of memory or descriptors, is its caller's loss alone. Once a server
 * listens, Fastify does not hear its errors any more, and one that nobody hears ends the process.
 */
export function outliveAcceptErrors(server: FastifyInstance): void {
  server.addHook("onListen", async () => {
    server.server.on("error", (error) => server.log.warn({ error }, "server.accept.failed"));
  });
}
