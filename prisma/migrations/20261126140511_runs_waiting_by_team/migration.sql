-- Finds the teams with waiting runs, and the run of each that was queued first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_waiting_by_team_idx" ON "runs"("team_id", (coalesce("state_since", "created_at"))) WHERE "state" = 'QUEUED' AND "lease_token" IS NULL;
