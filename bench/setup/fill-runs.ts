import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { addPeople } from "./people.ts";

/** Functions for the time of a run and for its id, which is time-ordered as in Errand. */
const FUNCTIONS = `
  CREATE FUNCTION pg_temp.created_at(n bigint, total bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
    $$ SELECT date_trunc('milliseconds', now() - (total - n) * interval '180 days' / total) $$;
  CREATE FUNCTION pg_temp.run_id(n bigint, total bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
    $$ SELECT (lpad(to_hex((extract(epoch FROM pg_temp.created_at(n, total)) * 1000)::bigint), 12, '0')
         || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid $$;
  SELECT setseed(0.42);`;

const TEXTS = `
  INSERT INTO run_search_texts (run_id, text) SELECT id, concat_ws(E'\\n\\x01', title, prompt, skill) FROM runs`;
/** All indexes except those that a constraint needs. */
const INDEXES = `
  SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made FROM pg_index
  WHERE indrelid IN ('runs'::regclass, 'run_search_texts'::regclass) AND NOT indisunique`;

/** Fills the tables of a service that has been started once, and updates the planner's statistics. */
export async function fillRuns(databaseUrl: string, rows: number): Promise<void> {
  await addPeople(databaseUrl);
  const fill = await readFile(join(import.meta.dirname, "fill-runs.sql"), "utf8");
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  try {
    await client.query(FUNCTIONS);
    const indexes = (await client.query<{ name: string; made: string }>(INDEXES)).rows;
    for (const { name } of indexes) {
      await client.query(`DROP INDEX ${name}`);
    }
    await client.query(fill.replaceAll("{rows}", String(rows)));
    await client.query(TEXTS);
    // Indexes are dropped and created again afterwards, because updating them row by row would take many times as
    // long.
    for (const { made } of indexes) {
      await client.query(made);
    }
    await client.query("VACUUM (ANALYZE)");
  } finally {
    await client.end();
  }
}
