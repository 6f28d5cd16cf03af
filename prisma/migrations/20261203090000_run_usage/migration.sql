-- What the reports count of runs that have ended. Writers of runs wait until the rows of the present runs are made.
CREATE TABLE "run_usage" (
    "run_id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "creator_id" UUID NOT NULL,
    "team_owned" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "repository" TEXT,
    "model" TEXT,
    "environment_id" TEXT,
    "run_ms" BIGINT NOT NULL,
    "result_ms" BIGINT,
    "total_tokens" BIGINT NOT NULL,
    "cost_usd" DECIMAL(14,6),

    CONSTRAINT "run_usage_pkey" PRIMARY KEY ("run_id")
);

-- The row of a run, if it counts and has ended. The columns are in the order of the table.
CREATE FUNCTION run_usage_of(run runs) RETURNS SETOF run_usage
    LANGUAGE sql STABLE
    AS $$
  SELECT run.id, run.team_id, run.created_at, run.creator_id, run.team_owned, run.state, run.source, run.agent,
    lower(run.config ->> 'repository'), coalesce(run.config #>> '{harness,model_id}', run.model_id), run.environment_id,
    greatest((extract(epoch FROM run.ended_at - run.started_at) * 1000)::bigint, 0),
    CASE WHEN run.state = 'SUCCEEDED' THEN (extract(epoch FROM run.ended_at - run.created_at) * 1000)::bigint END,
    run.total_tokens, run.cost_usd
  WHERE run.state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED') AND run.prepares_only IS NOT TRUE
$$;

CREATE FUNCTION keep_run_usage() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM run_usage WHERE run_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO run_usage SELECT * FROM run_usage_of(NEW);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER run_usage_insert AFTER INSERT ON runs
    FOR EACH ROW WHEN (NEW.state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')) EXECUTE FUNCTION keep_run_usage();

-- All other columns that count never change.
CREATE TRIGGER run_usage_update AFTER UPDATE ON runs
    FOR EACH ROW WHEN (
      (OLD.state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED') OR NEW.state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'))
      AND (OLD.state, OLD.creator_id, OLD.started_at, OLD.ended_at, OLD.total_tokens, OLD.cost_usd)
        IS DISTINCT FROM (NEW.state, NEW.creator_id, NEW.started_at, NEW.ended_at, NEW.total_tokens, NEW.cost_usd))
    EXECUTE FUNCTION keep_run_usage();

CREATE TRIGGER run_usage_delete AFTER DELETE ON runs
    FOR EACH ROW WHEN (OLD.state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')) EXECUTE FUNCTION keep_run_usage();

INSERT INTO run_usage SELECT counted.* FROM runs, run_usage_of(runs) AS counted ORDER BY runs.created_at;

CREATE INDEX "run_usage_team_id_created_at_idx" ON "run_usage"("team_id", "created_at");
