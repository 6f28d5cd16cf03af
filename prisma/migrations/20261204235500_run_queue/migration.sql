ALTER TABLE "runs" ADD COLUMN "queue_class" INTEGER, ADD COLUMN "start_after" TIMESTAMPTZ(3);

-- A row lives for a short time, so dead rows are removed early.
CREATE TABLE "run_queue" (
    "run_id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "class" INTEGER NOT NULL,
    "host" TEXT NOT NULL,
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "start_after" TIMESTAMPTZ(3),
    "disk" TEXT,
    "others_after" TIMESTAMPTZ(6),
    "reserved_until" TIMESTAMPTZ(6),

    CONSTRAINT "run_queue_pkey" PRIMARY KEY ("run_id")
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX "run_queue_order_idx" ON "run_queue"("team_id", "principal_id", "class", "host", "queued_at", "run_id");

CREATE INDEX "run_queue_reserved_idx" ON "run_queue"("reserved_until") WHERE "reserved_until" IS NOT NULL;

-- Half of each page stays free, so that a claim writes the new row beside the old one and no index (HOT update).
CREATE TABLE "queue_heads" (
    "team_id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "claimed_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "queue_heads_pkey" PRIMARY KEY ("team_id", "principal_id")
) WITH (fillfactor = 50);

-- Keeps `run_queue` whatever changes a run, also the processes of the previous release. A worker that has the files of the
-- run comes first for two seconds.
CREATE FUNCTION "queue_run"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM run_queue WHERE run_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state = 'QUEUED' AND NEW.lease_token IS NULL THEN
    INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at, start_after, disk, others_after)
    VALUES (NEW.id, NEW.team_id, NEW.creator_id, coalesce(NEW.queue_class, 1), coalesce(NEW.config ->> 'worker_host', ''),
      coalesce(NEW.state_since, NEW.created_at), NEW.start_after, NEW.disk,
      CASE WHEN NEW.disk IS NOT NULL THEN clock_timestamp() + interval '2 seconds' END);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "queue_new" AFTER INSERT ON "runs"
    FOR EACH ROW WHEN (NEW.state = 'QUEUED' AND NEW.lease_token IS NULL) EXECUTE FUNCTION "queue_run"();

CREATE TRIGGER "queue_changed" AFTER UPDATE ON "runs"
    FOR EACH ROW WHEN ((OLD.state = 'QUEUED' AND OLD.lease_token IS NULL)
      IS DISTINCT FROM (NEW.state = 'QUEUED' AND NEW.lease_token IS NULL)) EXECUTE FUNCTION "queue_run"();

CREATE TRIGGER "queue_deleted" AFTER DELETE ON "runs"
    FOR EACH ROW WHEN (OLD.state = 'QUEUED' AND OLD.lease_token IS NULL) EXECUTE FUNCTION "queue_run"();

INSERT INTO "run_queue" ("run_id", "team_id", "principal_id", "class", "host", "queued_at")
SELECT "id", "team_id", "creator_id", 1, coalesce("config" ->> 'worker_host', ''), coalesce("state_since", "created_at")
FROM "runs" WHERE "state" = 'QUEUED' AND "lease_token" IS NULL;

-- Whose runs have slots. A worker is about to claim a reserved run. There are as many rows as runs at work: OFFSET keeps the
-- planner from reading all waiting runs of a team instead.
CREATE FUNCTION "slots_in_use"("moment" timestamptz)
RETURNS TABLE ("team_id" uuid, "principal_id" uuid) LANGUAGE sql STABLE AS $$
  SELECT team_id, creator_id FROM runs WHERE lease_expires_at IS NOT NULL AND state <> 'BLOCKED' AND debug_until IS NULL
  UNION ALL (SELECT team_id, principal_id FROM run_queue WHERE reserved_until > moment OFFSET 0)
$$;

-- Chooses the next run for a worker and reserves it for five seconds: docs/decisions/jobs-and-schedules.md. Claims wait for
-- each other, because two that choose at once by the same figures choose the same team. Each statement of a function sees
-- what was committed before it.
CREATE FUNCTION "reserve_next_run"("own_host" text, "own_disk" text, "left_out" uuid[])
RETURNS TABLE ("next_id" uuid, "running_max" integer) LANGUAGE plpgsql
-- Statistics of a queue are older than the queue.
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  of_team CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
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
        SELECT oldest.*, CASE WHEN c.class = 2 AND oldest.queued_at < now - interval '1 hour' THEN 1 ELSE c.class END AS class
        FROM generate_series(0, 2) AS c (class), unnest(hosts) AS hosts (host), LATERAL (
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
