-- Tables and columns get the names that the field uses. Only renames: all rows stay as they are. The version before cannot
-- work on these names. That is acceptable, because no version has been released.

ALTER TABLE "inbound_meanings" RENAME TO "inbox_dedupe_keys";
ALTER TABLE "inbox_dedupe_keys" RENAME COLUMN "meaning" TO "dedupe_key";
ALTER INDEX "inbound_meanings_pkey" RENAME TO "inbox_dedupe_keys_pkey";

ALTER TABLE "inbox_events" RENAME COLUMN "lane" TO "ordering_key";
ALTER TABLE "inbox_events" RENAME COLUMN "settled_at" TO "completed_at";
ALTER INDEX "inbox_events_lane_disposition_seq_idx" RENAME TO "inbox_events_ordering_key_disposition_seq_idx";

ALTER TABLE "outbox_deliveries" RENAME COLUMN "slot" TO "message_key";
ALTER TABLE "receipts" RENAME COLUMN "slot" TO "message_key";

ALTER TABLE "remembered_answers" RENAME TO "idempotent_responses";
ALTER INDEX "remembered_answers_pkey" RENAME TO "idempotent_responses_pkey";
ALTER INDEX "remembered_answers_created_at_idx" RENAME TO "idempotent_responses_created_at_idx";

ALTER TABLE "log_readers" RENAME TO "event_log_cursors";
ALTER INDEX "log_readers_pkey" RENAME TO "event_log_cursors_pkey";

ALTER TABLE "run_texts" RENAME TO "run_search_texts";
ALTER INDEX "run_texts_pkey" RENAME TO "run_search_texts_pkey";
-- The index is missing where the server does not offer the extension for it.
ALTER INDEX IF EXISTS "run_texts_text_idx" RENAME TO "run_search_texts_text_idx";

-- Generated columns follow the new name of the function.
ALTER FUNCTION list_code(TEXT) RENAME TO filter_hash;
ALTER TABLE "runs" RENAME COLUMN "creator_code" TO "creator_hash";
ALTER TABLE "runs" RENAME COLUMN "environment_code" TO "environment_hash";
ALTER TABLE "runs" RENAME COLUMN "name_code" TO "name_hash";
ALTER TABLE "runs" RENAME COLUMN "model_code" TO "model_hash";
ALTER TABLE "runs" RENAME COLUMN "skill_code" TO "skill_hash";
ALTER TABLE "runs" RENAME COLUMN "schedule_code" TO "schedule_hash";

ALTER TABLE "runs" RENAME COLUMN "agent_session" TO "agent_session_id";
ALTER TABLE "runs" RENAME COLUMN "continues_id" TO "continues_run_id";
ALTER TABLE "runs" RENAME COLUMN "last_write" TO "last_write_id";

ALTER TABLE "webhook_deliveries" RENAME COLUMN "settled_at" TO "completed_at";
ALTER TABLE "webhook_deliveries" RENAME COLUMN "step" TO "retry_step";

ALTER TABLE "workers" RENAME COLUMN "slots" TO "capacity";
