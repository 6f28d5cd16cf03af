import { Client } from "pg";
import { SUPERUSER } from "./cluster.ts";
import { SOCKET_PORT } from "./socket-directory.ts";
import { PostgresStartError } from "./start-error.ts";

const DATABASE = "errand";
/** The database that every new cluster has. */
const FIRST_DATABASE = "postgres";
const CONNECT_LIMIT_MS = 10_000;
const QUERY_LIMIT_MS = 30_000;

/** Creates Errand's database in a new cluster, and returns its address. */
export async function ensureDatabase(socketDirectory: string): Promise<string> {
  const client = new Client({
    connectionString: socketUrl(socketDirectory, FIRST_DATABASE),
    application_name: "errand start",
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: QUERY_LIMIT_MS,
  });
  // The query on a broken connection rejects, so the event can be ignored.
  client.on("error", () => undefined);
  try {
    await connect(client);
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${DATABASE}`);
    }
  } finally {
    await client.end();
  }
  return socketUrl(socketDirectory, DATABASE);
}

async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new PostgresStartError(`Cannot connect to PostgreSQL at ${client.host}:${client.port}: ${reason}`, {
      cause,
    });
  }
}

/** `sslmode` prevents a PGSSLMODE of the environment from asking for TLS on the socket. */
function socketUrl(socketDirectory: string, database: string): string {
  const host = encodeURIComponent(socketDirectory);
  return `postgresql://${SUPERUSER}@localhost:${SOCKET_PORT}/${database}?host=${host}&sslmode=disable`;
}
