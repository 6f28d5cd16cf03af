import type { Client } from "pg";

/** A job in one of these states will be handled or is being handled. */
const JOBS = `
  SELECT name, data->>'key' AS key FROM pgboss.job WHERE state IN ('created', 'retry', 'active')`;

const JOBLESS = `
  WITH jobs AS (${JOBS})
  SELECT format('I7 run %s is QUEUED and free, and is not in the queue', id) AS violation FROM runs
   WHERE state = 'QUEUED' AND lease_token IS NULL AND NOT EXISTS (SELECT FROM run_queue WHERE run_id = runs.id)
  UNION ALL
  SELECT format('I7 run %s is in the queue, and does not wait', run_id) FROM run_queue
   WHERE NOT EXISTS (SELECT FROM runs WHERE id = run_id AND state = 'QUEUED' AND lease_token IS NULL)
  UNION ALL
  SELECT format('I7 inbox event %s has no result and no job', id) FROM inbox_events
   WHERE disposition IS NULL
     AND NOT EXISTS (SELECT 1 FROM jobs WHERE name = 'inbox' AND key = inbox_events.ordering_key)
  UNION ALL
  SELECT format('I7 delivery %s waits, and has no job', uid) FROM outbox_deliveries
   WHERE state = 'waiting'
     AND NOT EXISTS (SELECT 1 FROM jobs WHERE name = 'deliver' AND key = outbox_deliveries.thread_id::text)
  UNION ALL
  SELECT format('I7 run %s is %s, and has no live lease', id, state) FROM runs
   WHERE state IN ('PENDING', 'CLAIMED', 'INPROGRESS')
     AND (lease_token IS NULL OR NOT EXISTS (
       SELECT FROM run_leases WHERE run_id = runs.id AND token = lease_token
          AND expires_at >= clock_timestamp() - $1::int * interval '1 millisecond'))
  UNION ALL
  SELECT format('I7 run %s has no lease, and its expiry is stored', run_id) FROM run_leases
   WHERE NOT EXISTS (SELECT FROM runs WHERE id = run_id AND lease_token = token)`;

/** I7. */
export async function findJoblessWork(client: Client, leaseGraceMs: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ violation: string }>(JOBLESS, [leaseGraceMs]);
  return rows.map(({ violation }) => violation);
}
