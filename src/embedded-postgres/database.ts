import { withConnection } from "../storage/connection.ts";
import { SUPERUSER } from "./cluster.ts";
import { SOCKET_PORT } from "./socket-directory.ts";

const DATABASE = "errand";
/** The database that every new cluster has. */
const FIRST_DATABASE = "postgres";
const QUERY_LIMIT_MS = 30_000;

/** Creates Errand's database in a new cluster, and returns its address. */
export async function ensureDatabase(socketDirectory: string): Promise<string> {
  const options = { applicationName: "errand start", queryLimitMs: QUERY_LIMIT_MS };
  await withConnection(socketUrl(socketDirectory, FIRST_DATABASE), options, async (client) => {
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [DATABASE]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${DATABASE}`);
    }
  });
  return socketUrl(socketDirectory, DATABASE);
}

/** `sslmode` prevents a PGSSLMODE of the environment from asking for TLS on the socket. */
function socketUrl(socketDirectory: string, database: string): string {
  const host = encodeURIComponent(socketDirectory);
  return `postgresql://${SUPERUSER}@localhost:${SOCKET_PORT}/${database}?host=${host}&sslmode=disable`;
}
