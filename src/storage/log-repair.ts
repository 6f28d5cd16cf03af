import type { Client } from "pg";
import { withConnection } from "./connection.ts";

/** Moving all events of a large installation takes a while. */
const QUERY_LIMIT_MS = 15 * 60_000;

/**
 * Positions in the log are transaction ids, which start again in a server that received a copy of our tables. Then
 * the old positions are ahead of all new ones. This moves them back, in order, behind the server's current
 * transaction, and so it moves the cursors of the log. It runs at every start, and does nothing unless the tables
 * came from another server. Returns whether it changed anything.
 */
export async function repairLog(url: string): Promise<boolean> {
  return withConnection(
    url,
    { applicationName: "errand log repair", queryLimitMs: QUERY_LIMIT_MS },
    async (client) => {
      await client.query("BEGIN");
      // One process at a time. The second finds nothing to do.
      await client.query("SELECT pg_advisory_xact_lock(hashtext('errand log repair'))");
      const ahead = await positionsAhead(client);
      if (ahead > 0n) {
        await moveBack(client, ahead);
      }
      await client.query("COMMIT");
      return ahead > 0n;
    },
  );
}

/** How far events and cursors are ahead of the server's transactions; normally 0 or less. */
async function positionsAhead(client: Client): Promise<bigint> {
  const { rows } = await client.query<{ ahead: string | null }>(`
    SELECT greatest((SELECT max(position) FROM run_events), (SELECT max(position) FROM event_log_cursors)) + 1
      - pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead`);
  return BigInt(rows[0]?.ahead ?? 0);
}

async function moveBack(client: Client, ahead: bigint): Promise<void> {
  await client.query("UPDATE run_events SET position = position - $1::bigint", [ahead]);
  await client.query("UPDATE event_log_cursors SET position = position - $1::bigint", [ahead]);
}
