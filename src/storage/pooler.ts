import type { Client } from "pg";
import { StartupError } from "../core/basics/errors.ts";
import { withConnection } from "./connection.ts";
import { POOLED_SETTINGS } from "./database.ts";

const OPTIONS = { applicationName: "errand pooler check", queryLimitMs: 10_000 };
/** In the unit of the setting. An extension that is not loaded yet has no row in `pg_settings`. */
const READ_SETTINGS = `
  SELECT coalesce((SELECT setting FROM pg_settings s WHERE s.name = wanted.name), current_setting(wanted.name, true)) AS value
    FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, at)
   ORDER BY at`;

/**
 * Fails with `StartupError` if the connections of this address share sessions, as through a pooler in transaction mode.
 * There LISTEN delivers nothing and a lock of a session excludes nobody, without any error.
 */
export async function requireOwnSessions(url: string, variable: string): Promise<void> {
  const isShared = await withConnection(url, OPTIONS, (first) =>
    withConnection(url, OPTIONS, (second) => shareSessions(first, second)),
  );
  if (isShared) {
    throw new StartupError(
      `${variable} leads through a pooler in transaction mode. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself. ` +
        "DATABASE_URL may then stay the address of the pooler.",
    );
  }
}

/**
 * In this order a pooler that hands out the session that was free last gives both clients the same one, and a pooler
 * that hands them out in turn gives the second client two.
 */
async function shareSessions(first: Client, second: Client): Promise<boolean> {
  const sessions: unknown[] = [];
  for (const client of [first, second, second, first]) {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    sessions.push(rows[0]?.pid);
  }
  const [a, b, again, last] = sessions;
  return a === b || b !== again || a !== last;
}

/**
 * Fails with `StartupError` unless the sessions of a pooler have the settings that Errand cannot give them: in
 * transaction mode a client has no session of its own to set them in.
 */
export async function requirePoolerSettings(url: string): Promise<void> {
  const { rows } = await withConnection(url, OPTIONS, (client) =>
    client.query<{ value: string | null }>(READ_SETTINGS, [Object.keys(POOLED_SETTINGS)]),
  );
  const settings = Object.entries(POOLED_SETTINGS);
  const wrong = settings.filter(([, value], at) => rows[at]?.value !== String(value));
  if (wrong.length > 0) {
    throw new StartupError(
      `The pooler of DATABASE_URL gives its sessions another value of ${wrong.map(([name]) => name).join(", ")} than Errand ` +
        "needs. Let it send these statements to each new session (connect_query of PgBouncer): " +
        settings.map(([name, value]) => `SET ${name} = ${value}`).join("; "),
    );
  }
}
