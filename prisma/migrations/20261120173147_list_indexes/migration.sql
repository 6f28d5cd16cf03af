-- One index for each order and each filter of the list of runs, all of them beginning with the team.

-- DropIndex
DROP INDEX "runs_agent_id_idx";
DROP INDEX "runs_ancestor_ids_idx";
DROP INDEX "runs_artifact_types_idx";
DROP INDEX "runs_created_at_id_idx";
DROP INDEX "runs_creator_id_updated_at_id_idx";
DROP INDEX "runs_environment_id_created_at_idx";
DROP INDEX "runs_lease_expires_at_idx";
DROP INDEX "runs_metadata_pairs_idx";
DROP INDEX "runs_state_updated_at_id_idx";
DROP INDEX "runs_team_id_skill_created_at_idx";
DROP INDEX "runs_title_id_idx";
DROP INDEX "runs_updated_at_id_idx";

-- CreateIndex
CREATE INDEX "runs_team_id_updated_at_id_idx" ON "runs"("team_id", "updated_at", "id");
CREATE INDEX "runs_team_id_created_at_id_idx" ON "runs"("team_id", "created_at", "id");
CREATE INDEX "runs_team_id_title_id_idx" ON "runs"("team_id", "title", "id");
CREATE INDEX "runs_team_id_agent_id_idx" ON "runs"("team_id", "agent", "id");
CREATE INDEX "runs_team_id_state_updated_at_id_idx" ON "runs"("team_id", "state", "updated_at", "id");
CREATE INDEX "runs_team_id_creator_id_updated_at_id_idx" ON "runs"("team_id", "creator_id", "updated_at", "id");
CREATE INDEX "runs_team_id_source_updated_at_id_idx" ON "runs"("team_id", "source", "updated_at", "id");
CREATE INDEX "runs_team_id_environment_id_updated_at_id_idx" ON "runs"("team_id", "environment_id", "updated_at", "id");

-- By hand, as the schema cannot say for which rows an index is. Every change of a run writes to all its indexes, and most
-- runs have none of these.
CREATE INDEX "runs_waiting_idx" ON "runs"("updated_at") WHERE "state" = 'QUEUED' AND "lease_token" IS NULL;
CREATE INDEX "runs_leased_idx" ON "runs"("lease_expires_at") WHERE "lease_expires_at" IS NOT NULL;
CREATE INDEX "runs_long_idx" ON "runs"("team_id", "updated_at", "id") WHERE "updated_at" - "created_at" > interval '06:00:00';
CREATE INDEX "runs_environment_idx" ON "runs"("environment_id", "created_at") WHERE "environment_id" IS NOT NULL;
CREATE INDEX "runs_skill_created_idx" ON "runs"("team_id", "skill", "created_at") WHERE "skill" IS NOT NULL;
CREATE INDEX "runs_skill_idx" ON "runs"("team_id", "skill", "updated_at", "id") WHERE "skill" IS NOT NULL;
CREATE INDEX "runs_schedule_idx" ON "runs"("team_id", "schedule_id", "updated_at", "id") WHERE "schedule_id" IS NOT NULL;
CREATE INDEX "runs_metadata_idx" ON "runs" USING GIN ("metadata_pairs") WHERE "metadata_pairs" <> '{}';
CREATE INDEX "runs_ancestors_idx" ON "runs" USING GIN ("ancestor_ids") WHERE "ancestor_ids" <> '{}';

-- An index of an array knows no order, so each type of artifact has one of its own.
CREATE INDEX "runs_pull_request_idx" ON "runs"("team_id", "updated_at", "id") WHERE "artifact_types" @> '{PULL_REQUEST}';
CREATE INDEX "runs_plan_idx" ON "runs"("team_id", "updated_at", "id") WHERE "artifact_types" @> '{PLAN}';
CREATE INDEX "runs_file_idx" ON "runs"("team_id", "updated_at", "id") WHERE "artifact_types" @> '{FILE}';
CREATE INDEX "runs_screenshot_idx" ON "runs"("team_id", "updated_at", "id") WHERE "artifact_types" @> '{SCREENSHOT}';
CREATE INDEX "runs_external_reference_idx" ON "runs"("team_id", "updated_at", "id") WHERE "artifact_types" @> '{EXTERNAL_REFERENCE}';

-- An index takes no longer text than this.
UPDATE "runs" SET "config_name" = left("config_name", 300), "model_id" = left("model_id", 300)
  WHERE length("config_name") > 300 OR length("model_id") > 300;
CREATE INDEX "runs_name_idx" ON "runs"("team_id", "config_name", "updated_at", "id") WHERE "config_name" IS NOT NULL;
CREATE INDEX "runs_model_idx" ON "runs"("team_id", "model_id", "updated_at", "id") WHERE "model_id" IS NOT NULL;

-- CreateTable
CREATE TABLE "run_texts" (
    "run_id" UUID NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "run_texts_pkey" PRIMARY KEY ("run_id")
);
INSERT INTO "run_texts" ("run_id", "text")
  SELECT "id", concat_ws(E'\n\x01', "title", "prompt", "skill") FROM "runs";

-- A server without the extension, or one that does not let us create it, searches without an index.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "run_texts_text_idx" ON "run_texts" USING GIN ("text" gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
  RAISE WARNING 'Words are searched for without an index: %', SQLERRM;
END $$;
