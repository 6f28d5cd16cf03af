import { Client } from "pg";
import { StartupError } from "../core/errors.ts";

const CONNECT_LIMIT_MS = 10_000;
const KEEPALIVE_DELAY_MS = 10_000;

export type SessionOptions = { readonly applicationName: string; readonly queryLimitMs: number };

/**
 * One connection for the length of `work`, for what needs a session of its own (locks, DDL). Left to its defaults, a
 * pg client waits for ever on a link that went silent, and ends the process when a link breaks between two queries.
 *
 * Throws `StartupError` when there is no connection to be had.
 */
export async function withSession<T>(
  url: string,
  options: SessionOptions,
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
  // The query that meets the broken connection rejects; nothing is lost by ignoring the event.
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
