import { fastify } from "fastify";
import pg from "pg";

/** The floors of reading: the same rows of the same table, returned as they are without authentication. */
const COLUMNS = `id, title, prompt, state, created_at, updated_at, source, creator_id, started_at, ended_at,
  status_message, trigger_url, session_id, conversation_id, config, agent, ancestor_ids, metadata, team_owned, provenance`;
const GET = { name: "get", text: `SELECT ${COLUMNS} FROM runs WHERE id = $1` };
const LIST = {
  name: "list",
  text: `SELECT ${COLUMNS} FROM runs WHERE team_id = $1 ORDER BY updated_at DESC, id DESC LIMIT $2`,
};

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const server = fastify();
server.get<{ Params: { id: string } }>("/runs/:id", async ({ params }) => {
  const { rows } = await pool.query({ ...GET, values: [params.id] });
  return rows[0];
});
server.get<{ Querystring: { team: string; limit: string } }>("/runs", async ({ query }) => {
  const { rows } = await pool.query({ ...LIST, values: [query.team, Number(query.limit) + 1] });
  return { runs: rows.slice(0, -1), more: rows.length > Number(query.limit) };
});
console.log(`listening at ${await server.listen({ host: "127.0.0.1", port: 0 })}`);
