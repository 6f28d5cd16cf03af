-- The class of a queued run is from now on 3 times its priority (0 high, 1 normal, 2 low), and within it 0 while a person
-- waits, 1 for the API, 2 for batches.
UPDATE "run_queue" SET "class" = 3 + "class";

-- As before, except for the class.
CREATE OR REPLACE FUNCTION "queue_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM run_queue WHERE run_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state = 'QUEUED' AND NEW.lease_token IS NULL THEN
    INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at, start_after, disk, others_after)
    VALUES (NEW.id, NEW.team_id, NEW.creator_id,
      3 * CASE NEW.config ->> 'priority' WHEN 'high' THEN 0 WHEN 'low' THEN 2 ELSE 1 END + coalesce(NEW.queue_class, 1),
      coalesce(NEW.config ->> 'worker_host', ''),
      coalesce(NEW.state_since, NEW.created_at), NEW.start_after, NEW.disk,
      CASE WHEN NEW.disk IS NOT NULL THEN clock_timestamp() + interval '2 seconds' END);
  END IF;
  RETURN NULL;
END $$;

-- As before, except for the classes.
CREATE OR REPLACE FUNCTION "reserve_next_run"("own_host" text, "own_disk" text, "left_out" uuid[])
RETURNS TABLE ("next_id" uuid, "running_max" integer) LANGUAGE plpgsql
-- Statistics of a queue are older than the queue.
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  of_team CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  -- By class. After an hour a low run counts as normal, and a batch as one of the API.
  after_an_hour CONSTANT int[] := ARRAY[0, 1, 1, 3, 4, 4, 3, 4, 4];
  hosts CONSTANT text[] := CASE WHEN own_host IS NULL THEN ARRAY[''] ELSE ARRAY['', own_host] END;
  now timestamptz;
  team record;
  chosen record;
BEGIN
  IF NOT EXISTS (SELECT FROM run_queue) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('errand run queue'));
  now := clock_timestamp();
  FOR team IN
    WITH RECURSIVE waiting AS (
      (SELECT q.team_id AS id FROM run_queue q ORDER BY q.team_id LIMIT 1)
      UNION ALL
      SELECT (SELECT q.team_id FROM run_queue q WHERE q.team_id > waiting.id ORDER BY q.team_id LIMIT 1)
      FROM waiting WHERE waiting.id IS NOT NULL),
    used AS (SELECT s.team_id AS id, count(*)::int AS slots FROM slots_in_use(now) s GROUP BY s.team_id)
    SELECT teams.id, coalesce(used.slots, 0) AS slots, (
        SELECT (quota ->> 'limit')::int FROM jsonb_array_elements(teams.quotas) AS quota
        WHERE quota ->> 'name' = 'running_runs' LIMIT 1) AS max
    FROM waiting JOIN teams ON teams.id = waiting.id LEFT JOIN used ON used.id = teams.id
      LEFT JOIN queue_heads h ON h.team_id = teams.id AND h.principal_id = of_team
    ORDER BY slots, h.claimed_at NULLS FIRST, teams.id
  LOOP
    CONTINUE WHEN team.slots >= team.max;
    LOOP
      WITH RECURSIVE people AS (
        (SELECT q.principal_id AS id FROM run_queue q WHERE q.team_id = team.id ORDER BY q.principal_id LIMIT 1)
        UNION ALL
        SELECT (
          SELECT q.principal_id FROM run_queue q
          WHERE q.team_id = team.id AND q.principal_id > people.id ORDER BY q.principal_id LIMIT 1)
        FROM people WHERE people.id IS NOT NULL),
      used AS (
        SELECT s.principal_id AS id, count(*) AS slots FROM slots_in_use(now) s
        WHERE s.team_id = team.id GROUP BY s.principal_id)
      SELECT first.run_id, people.id AS principal_id INTO chosen
      FROM people CROSS JOIN LATERAL (
        SELECT oldest.*,
          CASE WHEN oldest.queued_at < now - interval '1 hour' THEN after_an_hour[c.class + 1] ELSE c.class END AS class
        FROM generate_series(0, 8) AS c (class), unnest(hosts) AS hosts (host), LATERAL (
          SELECT q.run_id, q.queued_at FROM run_queue q
          WHERE q.team_id = team.id AND q.principal_id = people.id AND q.class = c.class AND q.host = hosts.host
            AND (q.start_after IS NULL OR q.start_after <= now)
            AND (q.reserved_until IS NULL OR q.reserved_until <= now)
            AND q.run_id <> ALL (left_out)
            AND (q.disk IS NULL OR q.disk = own_disk OR q.others_after <= now OR NOT EXISTS (
              SELECT FROM workers w
              WHERE w.disk = q.disk AND (w.disk_use ->> 'takesRuns')::boolean IS DISTINCT FROM false
                AND (q.host = '' OR w.worker_host = q.host) AND w.last_seen_at > now - interval '30 seconds'
                AND w.capacity > (
                  SELECT count(*) FROM runs
                  WHERE lease_worker = w.id AND lease_expires_at IS NOT NULL AND state <> 'BLOCKED' AND debug_until IS NULL)))
          ORDER BY q.queued_at, q.run_id LIMIT 1) AS oldest
        ORDER BY class, oldest.queued_at, oldest.run_id LIMIT 1) AS first
      LEFT JOIN used ON used.id = people.id
      LEFT JOIN queue_heads h ON h.team_id = team.id AND h.principal_id = people.id
      ORDER BY first.class, coalesce(used.slots, 0), h.claimed_at NULLS FIRST, first.queued_at, first.run_id LIMIT 1;
      EXIT WHEN NOT FOUND;
      -- A transaction that is not over yet may end or delete the run. A claim never waits for it.
      PERFORM FROM run_queue q WHERE q.run_id = chosen.run_id FOR UPDATE SKIP LOCKED;
      IF FOUND THEN
        UPDATE run_queue SET reserved_until = now + interval '5 seconds' WHERE run_id = chosen.run_id;
        INSERT INTO queue_heads (team_id, principal_id, claimed_at)
        VALUES (team.id, of_team, now), (team.id, chosen.principal_id, now)
        ON CONFLICT (team_id, principal_id) DO UPDATE SET claimed_at = excluded.claimed_at;
        RETURN QUERY SELECT chosen.run_id, team.max;
        RETURN;
      END IF;
      left_out := left_out || chosen.run_id;
    END LOOP;
  END LOOP;
END $$;
