import { fastify } from "fastify";

/** The floor of starting: a server that can do nothing. */
const server = fastify();
server.get("/readyz", async () => ({ status: "ok" }));
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);
