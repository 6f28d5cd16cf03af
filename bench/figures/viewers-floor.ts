import type { ServerResponse } from "node:http";
import { fastify } from "fastify";
import pg from "pg";

/**
 * The floor of live viewing: one LISTEN whose notifications are written to every viewer. Nothing is read or stored.
 */
const url = process.env.DATABASE_URL;
const pool = new pg.Pool({ connectionString: url, max: 2 });
const listener = new pg.Client({ connectionString: url });
const viewers = new Set<ServerResponse>();
await listener.connect();
listener.on("notification", ({ payload }) => {
  for (const viewer of viewers) {
    viewer.write(`data: ${payload}\n\n`);
  }
});
await listener.query("LISTEN floor");

const server = fastify();
server.get("/events", (_request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream" });
  viewers.add(reply.raw);
  reply.raw.write(": hello\n\n");
  reply.raw.on("close", () => viewers.delete(reply.raw));
});
server.post<{ Body: { message: string } }>("/followups", async ({ body }) => {
  await pool.query("SELECT pg_notify('floor', $1)", [JSON.stringify(body.message)]);
  return {};
});
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);
