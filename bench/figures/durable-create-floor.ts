import { randomUUID } from "node:crypto";
import { fastify } from "fastify";
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import pg from "pg";
import { z } from "zod";

/** The floor of a durable create: one row, one statement, no authentication. */
const body = z.object({ prompt: z.string().min(1), config: z.looseObject({}).optional() });
const response = { 200: z.object({ run_id: z.uuid(), state: z.string() }) };
const INSERT = {
  name: "insert",
  text: "INSERT INTO floor_runs (id, prompt, config, state, created_at) VALUES ($1, $2, $3, $4, now())",
};

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(
  "CREATE TABLE IF NOT EXISTS floor_runs (id uuid PRIMARY KEY, prompt text, config jsonb, state text, created_at timestamptz)",
);
const server = fastify().withTypeProvider<ZodTypeProvider>();
server.setValidatorCompiler(validatorCompiler);
server.setSerializerCompiler(serializerCompiler);
server.post("/runs", { schema: { body, response } }, async ({ body: { prompt, config } }) => {
  const id = randomUUID();
  await pool.query({ ...INSERT, values: [id, prompt, config, "QUEUED"] });
  return { run_id: id, state: "QUEUED" };
});
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);
