import { createHmac, timingSafeEqual } from "node:crypto";
import { type FastifyReply, type FastifyRequest, fastify } from "fastify";
import pg from "pg";

/** The floor of taking in an event: the signature, the JSON, one row and one statement. */
const INSERT = {
  name: "insert",
  text: "INSERT INTO floor_events (delivery_id, name, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
};
const secret = process.env.SIGNING_SECRET ?? "";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(
  "CREATE TABLE IF NOT EXISTS floor_events (delivery_id text PRIMARY KEY, name text, body text, received_at timestamptz DEFAULT now())",
);
const server = fastify();
server.removeAllContentTypeParsers();
server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
server.post<{ Body: Buffer }>("/webhooks/slack", async (request, reply) => {
  const timestamp = String(request.headers["x-slack-request-timestamp"]);
  const signed = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(request.body).digest("hex");
  if (!isEqual(`v0=${signed}`, request.headers["x-slack-signature"])) {
    return refuse(reply);
  }
  const { event_id: id, event } = JSON.parse(request.body.toString());
  return store(request, reply, [id, event.type]);
});
server.post<{ Body: Buffer }>("/webhooks/github", async (request, reply) => {
  const signed = createHmac("sha256", secret).update(request.body).digest("hex");
  if (!isEqual(`sha256=${signed}`, request.headers["x-hub-signature-256"])) {
    return refuse(reply);
  }
  const { action } = JSON.parse(request.body.toString());
  return store(request, reply, [String(request.headers["x-github-delivery"]), action]);
});
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);

function isEqual(expected: string, actual: string | string[] | undefined): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(String(actual))];
  return one.length === other.length && timingSafeEqual(one, other);
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply.code(401).send({ error: "The signature is wrong." });
}

async function store(
  { body }: FastifyRequest<{ Body: Buffer }>,
  reply: FastifyReply,
  names: readonly string[],
): Promise<FastifyReply> {
  await pool.query({ ...INSERT, values: [...names, body.toString()] });
  return reply.send();
}
