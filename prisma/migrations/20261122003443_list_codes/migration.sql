-- The index of each filter has what other filters ask for as well, so that two filters together are found by one walk.

-- What indexes have of a value of any length: short, so that it can be in all of them. Two values may have the same.
CREATE FUNCTION list_code(value TEXT) RETURNS SMALLINT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT (pg_catalog.hashtext(value) OPERATOR(pg_catalog.>>) 16)::pg_catalog.int2 $$;

-- DropIndex
DROP INDEX "runs_team_id_creator_id_updated_at_id_idx";
DROP INDEX "runs_team_id_environment_id_updated_at_id_idx";
DROP INDEX "runs_team_id_source_updated_at_id_idx";
DROP INDEX "runs_team_id_state_updated_at_id_idx";
DROP INDEX "runs_team_id_updated_at_id_idx";
DROP INDEX "runs_skill_idx";
DROP INDEX "runs_schedule_idx";
DROP INDEX "runs_name_idx";
DROP INDEX "runs_model_idx";
DROP INDEX "runs_pull_request_idx";
DROP INDEX "runs_plan_idx";
DROP INDEX "runs_file_idx";
DROP INDEX "runs_screenshot_idx";
DROP INDEX "runs_external_reference_idx";

-- Indexes took no longer text than this, codes are of the whole.
UPDATE "runs" SET "config_name" = "config" ->> 'name' WHERE length("config_name") >= 300;
UPDATE "runs" SET "model_id" = coalesce("config" #>> '{harness,model_id}', "config" ->> 'model_id')
  WHERE length("model_id") >= 300;

-- AlterTable
ALTER TABLE "runs"
  ADD COLUMN "creator_code" SMALLINT GENERATED ALWAYS AS (list_code("creator_id"::text)) STORED,
  ADD COLUMN "environment_code" SMALLINT GENERATED ALWAYS AS (list_code("environment_id")) STORED,
  ADD COLUMN "name_code" SMALLINT GENERATED ALWAYS AS (list_code("config_name")) STORED,
  ADD COLUMN "model_code" SMALLINT GENERATED ALWAYS AS (list_code("model_id")) STORED,
  ADD COLUMN "skill_code" SMALLINT GENERATED ALWAYS AS (list_code("skill")) STORED,
  ADD COLUMN "schedule_code" SMALLINT GENERATED ALWAYS AS (list_code("schedule_id"::text)) STORED;

-- CreateIndex
CREATE INDEX "runs_by_update_idx" ON "runs"("team_id", "updated_at", "id", "created_at");
CREATE INDEX "runs_by_state_idx" ON "runs"("team_id", "state", "updated_at", "id", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code");
CREATE INDEX "runs_by_source_idx" ON "runs"("team_id", "source", "updated_at", "id", "state", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code");
CREATE INDEX "runs_by_creator_idx" ON "runs"("team_id", "creator_code", "updated_at", "id", "state", "source", "environment_code", "name_code", "model_code", "skill_code", "schedule_code");
CREATE INDEX "runs_by_environment_idx" ON "runs"("team_id", "environment_code", "updated_at", "id", "state", "source", "creator_code", "name_code", "model_code", "skill_code", "schedule_code");

-- By hand, as the schema cannot say for which rows an index is.
CREATE INDEX "runs_by_name_idx" ON "runs"("team_id", "name_code", "updated_at", "id", "state", "source", "creator_code", "environment_code", "model_code", "skill_code", "schedule_code") WHERE "name_code" IS NOT NULL;
CREATE INDEX "runs_by_model_idx" ON "runs"("team_id", "model_code", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "skill_code", "schedule_code") WHERE "model_code" IS NOT NULL;
CREATE INDEX "runs_by_skill_idx" ON "runs"("team_id", "skill_code", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "schedule_code") WHERE "skill_code" IS NOT NULL;
CREATE INDEX "runs_by_schedule_idx" ON "runs"("team_id", "schedule_code", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code") WHERE "schedule_code" IS NOT NULL;
CREATE INDEX "runs_by_pull_request_idx" ON "runs"("team_id", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code") WHERE "artifact_types" @> '{PULL_REQUEST}';
CREATE INDEX "runs_by_plan_idx" ON "runs"("team_id", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code") WHERE "artifact_types" @> '{PLAN}';
CREATE INDEX "runs_by_file_idx" ON "runs"("team_id", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code") WHERE "artifact_types" @> '{FILE}';
CREATE INDEX "runs_by_screenshot_idx" ON "runs"("team_id", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code") WHERE "artifact_types" @> '{SCREENSHOT}';
CREATE INDEX "runs_by_external_reference_idx" ON "runs"("team_id", "updated_at", "id", "state", "source", "creator_code", "environment_code", "name_code", "model_code", "skill_code", "schedule_code") WHERE "artifact_types" @> '{EXTERNAL_REFERENCE}';

-- So that the planner knows how few runs live long.
CREATE STATISTICS "runs_length" ON ("updated_at" - "created_at") FROM "runs";
ANALYZE "runs";
