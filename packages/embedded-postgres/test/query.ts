import { Client } from "pg";

const LIMIT_MS = 10_000;

/** Runs one statement on a connection of its own, and returns its rows. */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
