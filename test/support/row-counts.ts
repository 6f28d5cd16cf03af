import { withConnection } from "../../src/storage/connection.ts";

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
/** Counts the rows of all tables exactly in one statement. */
const COUNTS = `
  SELECT table_name AS name,
         (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %I', table_name), false, true, '')))[1]::text::int AS rows
    FROM information_schema.tables
   WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
   ORDER BY table_name`;

/** The number of rows in each of Errand's tables. */
export async function countRows(databaseUrl: string): Promise<Record<string, number>> {
  const { rows } = await withConnection(databaseUrl, SESSION, (client) =>
    client.query<{ readonly name: string; readonly rows: number }>(COUNTS),
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}
