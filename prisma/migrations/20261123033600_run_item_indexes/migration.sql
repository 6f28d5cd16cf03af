-- By hand, because the schema cannot express them.

-- The executor of a run is its creator unless another principal is recorded.
CREATE INDEX "runs_by_executor_idx" ON "runs"("team_id", (coalesce("executor_id", "creator_id")), "updated_at", "id", "state", "source", "creator_hash", "environment_hash", "name_hash", "model_hash", "skill_hash", "schedule_hash");

-- The last turn that ended is found without reading the events of a long turn after it.
CREATE INDEX "run_events_turn_ended_idx" ON "run_events"("run_id", "seq") WHERE "kind" = 'turn.ended';
