import { Client } from "pg";
import { StartupError } from "../core/basics/errors.ts";

const CONNECT_LIMIT_MS = 10_000;
const KEEPALIVE_DELAY_MS = 10_000;

export type ConnectionOptions = { readonly applicationName: string; readonly queryLimitMs: number };

/**
 * Opens one connection for the duration of `work`, which needs its own session (locks, DDL). With its defaults, a pg
 * client waits for ever on a silent connection, and ends the process when a connection breaks between two queries.
 * Throws `StartupError` when it cannot connect.
 */
export async function withConnection<T>(
  url: string,
  options: ConnectionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: options.queryLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  });
  // The query on the broken connection rejects, so the event can be ignored.
  client.on("error", () => undefined);
  try {
    await connect(client);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function connect(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new StartupError(`Cannot connect to PostgreSQL at ${client.host}:${client.port}: ${reason}`, {
      cause,
    });
  }
}
