-- Concurrently, because workers of the earlier version may be writing events.
DROP INDEX CONCURRENTLY IF EXISTS "run_events_position_run_id_seq_idx";
