import { Client } from "pg";

/** The requests of a test that were answered with 2xx. Each text was sent once, apart from retries. */
export interface Acknowledged {
  readonly prompts: readonly string[];
  readonly followUps: readonly string[];
  /** Ids of runs whose cancel was acknowledged. */
  readonly cancelled: readonly string[];
  readonly deliveryIds: readonly string[];
  /** The changes to settings, which the audit log names. `value` is unique. */
  readonly changes: readonly SettingChange[];
}

export interface SettingChange {
  readonly action: "environment.created" | "environment.updated" | "environment.deleted";
  /** The name of the environment after the change, or before its deletion. */
  readonly value: string;
}

interface Question {
  readonly violation: string;
  /** Returns one row for each violation. */
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/**
 * The runs that were given up because their worker was lost three times in a row, as the kills of a test can do on a slow
 * machine. The log must show the three losses.
 */
const GIVEN_UP = `SELECT id FROM runs WHERE state = 'ERROR'
  AND status_message ->> 'message' LIKE 'The run was given up: its worker was lost %'
  AND (SELECT count(*) FROM run_events WHERE run_id = runs.id AND kind = 'attempt.ended'
    AND body ->> 'reason' = 'The worker was lost.') >= 3`;

/**
 * Finds what is lost, doubled, stuck or out of order, by statements that know only the tables. It uses nothing of
 * `src`, so that an error there cannot hide itself.
 */
export async function auditAfterKills(url: string, done: Acknowledged): Promise<readonly string[]> {
  const client = new Client({ connectionString: url, application_name: "errand audit" });
  await client.connect();
  try {
    const violations: string[] = [];
    for (const { violation, sql, values = [] } of questions(done)) {
      const { rows } = await client.query(sql, [...values]);
      violations.push(...rows.map((row) => `${violation}: ${JSON.stringify(row)}`));
    }
    return violations;
  } finally {
    await client.end();
  }
}

function questions({
  cancelled,
  changes,
  deliveryIds,
  followUps,
  prompts,
}: Acknowledged): readonly Question[] {
  return [
    {
      violation: "an acknowledged create has not exactly one run",
      sql: `SELECT sent.prompt, count(runs.id)::int FROM unnest($1::text[]) AS sent (prompt)
              LEFT JOIN runs USING (prompt) GROUP BY 1 HAVING count(runs.id) <> 1`,
      values: [prompts],
    },
    {
      violation: "an acknowledged follow-up is not stored exactly once",
      sql: `SELECT sent.message, count(follow_ups.id)::int FROM unnest($1::text[]) AS sent (message)
              LEFT JOIN follow_ups USING (message) GROUP BY 1 HAVING count(follow_ups.id) <> 1`,
      values: [followUps],
    },
    {
      violation: "an acknowledged event did not make exactly one run",
      sql: `SELECT sent.id, count(runs.id)::int FROM unnest($1::text[]) AS sent (id)
              LEFT JOIN inbox_events ON delivery_id = sent.id LEFT JOIN runs ON runs.id = inbox_events.run_id
             GROUP BY 1 HAVING count(runs.id) <> 1`,
      values: [deliveryIds],
    },
    {
      violation: "two runs have the same prompt",
      sql: "SELECT prompt FROM runs GROUP BY 1 HAVING count(*) > 1",
    },
    {
      violation: "a cancelled run is not cancelled",
      sql: "SELECT id, state FROM runs WHERE id = ANY ($1::uuid[]) AND state <> 'CANCELLED'",
      values: [cancelled],
    },
    {
      violation: "another run did not succeed",
      sql: `SELECT id, state, status_message FROM runs
             WHERE id <> ALL ($1::uuid[]) AND state <> 'SUCCEEDED' AND id NOT IN (${GIVEN_UP})`,
      values: [cancelled],
    },
    { violation: "a run still has a lease", sql: "SELECT id FROM runs WHERE lease_token IS NOT NULL" },
    {
      violation: "a follow-up was not given to the agent",
      sql: `SELECT id FROM follow_ups
             WHERE turn IS NULL AND run_id <> ALL ($1::uuid[]) AND run_id NOT IN (${GIVEN_UP})`,
      values: [cancelled],
    },
    { violation: "an event has no result", sql: "SELECT id FROM inbox_events WHERE disposition IS NULL" },
    {
      violation: "a message was not delivered to its thread",
      sql: "SELECT id, state FROM outbox_deliveries WHERE state IN ('waiting', 'dead')",
    },
    {
      violation: "the log of a run has a hole",
      sql: `SELECT run_id FROM run_events GROUP BY 1 HAVING min(seq) <> 1 OR max(seq) <> count(*)`,
    },
    {
      violation: "a turn ended twice",
      sql: `SELECT run_id, turn FROM run_events WHERE kind = 'turn.ended' GROUP BY 1, 2 HAVING count(*) > 1`,
    },
    {
      violation: "a later event belongs to an earlier turn",
      sql: `SELECT run_id, seq FROM
              (SELECT run_id, seq, turn, lag(turn) OVER (PARTITION BY run_id ORDER BY seq) AS before FROM run_events) AS log
             WHERE turn < before`,
    },
    {
      violation: "a later follow-up was given to an earlier turn",
      sql: `SELECT run_id, seq FROM
              (SELECT run_id, seq, turn, lag(turn) OVER (PARTITION BY run_id ORDER BY seq) AS before FROM follow_ups) AS given
             WHERE turn < before`,
    },
    {
      violation: "an acknowledged change has not exactly one audit entry",
      sql: `SELECT sent.action, sent.value, count(e.id)::int FROM unnest($1::text[], $2::text[]) AS sent (action, value)
              LEFT JOIN audit_entries e ON e.action = sent.action
                AND coalesce(e.after, e.before) #>> '{config,name}' = sent.value
             GROUP BY 1, 2 HAVING count(e.id) <> 1`,
      values: [changes.map(({ action }) => action), changes.map(({ value }) => value)],
    },
    {
      violation: "an audit entry has no acknowledged change",
      sql: `SELECT e.action, e.after, e.before FROM audit_entries e WHERE e.target_type = 'environment'
               AND NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[]) AS sent (action, value)
                 WHERE sent.action = e.action AND sent.value = coalesce(e.after, e.before) #>> '{config,name}')`,
      values: [changes.map(({ action }) => action), changes.map(({ value }) => value)],
    },
    {
      violation: "an environment differs from its last audit entry",
      sql: `SELECT last.target_id, last.action, environments.config FROM
              (SELECT DISTINCT ON (target_id) target_id, action, after FROM audit_entries
                WHERE target_type = 'environment' ORDER BY target_id, seq DESC) AS last
              FULL JOIN environments ON environments.id = last.target_id
             WHERE (last.action = 'environment.deleted') <> (environments.id IS NULL)
                OR last.target_id IS NULL
                OR last.after #>> '{config,name}' <> environments.config ->> 'name'`,
    },
    {
      violation: "follow-ups were stored in another order than they were sent",
      sql: `SELECT run_id FROM (
              SELECT run_id, seq, lag(place) OVER (PARTITION BY run_id ORDER BY seq) AS before, place
                FROM follow_ups JOIN unnest($1::text[]) WITH ORDINALITY AS sent (message, place) USING (message)
            ) AS stored WHERE place < before`,
      values: [followUps.toSorted()],
    },
  ];
}
