import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { inject } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { databaseUrl, TEMPLATE_DATABASE } from "./database-url.ts";
import { waitFor } from "./wait-for.ts";

const POOL_CLOSE_LIMIT_MS = 1_000;
const OPEN_CONNECTIONS = `
  SELECT application_name, state, query
    FROM pg_stat_activity
   WHERE datname = $1 AND backend_type = 'client backend'`;
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;

export interface TestDatabase {
  readonly url: string;
  /** Call it when everything that used the database is closed. An open connection fails the test. */
  drop(): Promise<void>;
}

type Leak = { readonly application_name: string; readonly state: string; readonly query: string };

/** A database for one test file, with Errand's schema and no rows. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(TEMPLATE_DATABASE);
}

/** A database without Errand's schema. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template0");
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const serverUrl = inject("postgresUrl");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await withConnection(serverUrl, SESSION, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
  );
  const drop = () => withConnection(serverUrl, SESSION, (client) => dropDatabase(client, name));
  return { url: databaseUrl(serverUrl, name), drop };
}

async function dropDatabase(client: Client, name: string): Promise<void> {
  const leaks = await findLeaks(client, name);
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  if (leaks.length > 0) {
    throw new Error(`Connections left open by this test:\n${leaks.map(describeLeak).join("\n")}`);
  }
}

/** Closing a pool does not wait for the server to notice, so the server gets a moment. */
async function findLeaks(client: Client, name: string): Promise<readonly Leak[]> {
  let leaks: readonly Leak[] = [];
  const isClosed = async () => {
    leaks = (await client.query<Leak>(OPEN_CONNECTIONS, [name])).rows;
    return leaks.length === 0;
  };
  await waitFor(isClosed, { what: "connections to close", timeoutMs: POOL_CLOSE_LIMIT_MS }).catch(
    () => false,
  );
  return leaks;
}

function describeLeak({ application_name, state, query }: Leak): string {
  return `${application_name || "unnamed"} (${state}): ${query}`;
}
