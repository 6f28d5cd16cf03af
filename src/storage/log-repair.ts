import type { Client } from "pg";
import { withSession } from "./session.ts";

/** Moving every event of a large installation takes its time. */
const QUERY_LIMIT_MS = 15 * 60_000;

/**
 * Positions in the log are ids of transactions, which begin anew in a server that was given a copy of our tables. Then
 * the old ones lie ahead of all new ones. This moves them back, in their order, right behind where the server stands;
 * so do the places that readers of the log keep. Done at every start; it finds nothing to do unless the tables came
 * from elsewhere. Returns whether it had to.
 */
export async function repairLog(url: string): Promise<boolean> {
  return withSession(
    url,
    { applicationName: "errand log repair", queryLimitMs: QUERY_LIMIT_MS },
    async (client) => {
      await client.query("BEGIN");
      // One process at a time: the second finds it done.
      await client.query("SELECT pg_advisory_xact_lock(hashtext('errand log repair'))");
      const ahead = await positionsAhead(client);
      if (ahead > 0n) await moveBack(client, ahead);
      await client.query("COMMIT");
      return ahead > 0n;
    },
  );
}

/** How far events and their readers are ahead of the transactions that the server has begun; in peace, not at all. */
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
