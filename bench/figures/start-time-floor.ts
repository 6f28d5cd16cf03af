import { fastify } from "fastify";

/** The floor of starting: a server without any route. */
const server = fastify();
server.get("/readyz", async () => ({ status: "ok" }));
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);
