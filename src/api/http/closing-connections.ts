import type { FastifyInstance } from "fastify";

/**
 * What is asked when the stop begins is answered, and its connection then closed: one that were kept for the next
 * request would hold the stop up until it is idle for long enough.
 */
export function closeConnectionsOnStop(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook("preClose", async () => {
    isClosing = true;
  });
  server.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
}
