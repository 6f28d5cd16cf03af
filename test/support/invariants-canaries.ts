import type { Client } from "pg";
import { listRunProcesses } from "./invariants-processes.ts";

/** I6. Compressed data (checkpoints) is not searched, because it contains the agent's own files. */
export async function findLeakedCanaries(
  client: Client,
  canaries: readonly string[],
  texts: readonly string[],
): Promise<readonly string[]> {
  if (canaries.length === 0) {
    return [];
  }
  const environments = (await listRunProcesses()).map(({ environment }) => environment);
  const inTables = await findInTables(client, canaries);
  return [
    ...inTables.map((table) => `I6 a canary is in the table ${table}`),
    ...(holdsAny(texts, canaries) ? ["I6 a canary was printed, answered or posted"] : []),
    ...(holdsAny(environments, canaries) ? ["I6 a canary is in an agent's environment"] : []),
  ];
}

function holdsAny(texts: readonly string[], canaries: readonly string[]): boolean {
  return texts.some((text) => canaries.some((canary) => text.includes(canary)));
}

/** Includes the queue's tables, because a job could contain anything. */
async function findInTables(client: Client, canaries: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`);
  const leaked: string[] = [];
  for (const { name } of rows) {
    const found = await client.query(
      `SELECT 1 FROM ${name} AS entry, unnest($1::text[]) AS canary
        WHERE strpos(entry::text, canary) > 0
           OR strpos(entry::text, encode(convert_to(canary, 'UTF8'), 'hex')) > 0 LIMIT 1`,
      [canaries],
    );
    if (found.rows.length > 0) {
      leaked.push(name);
    }
  }
  return leaked;
}
