-- Events of one transaction share one entry of this index, so it has a quarter of the size of the one that it replaces.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "run_events_position_idx" ON "run_events"("position");
