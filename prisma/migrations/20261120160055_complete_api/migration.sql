-- DropIndex
DROP INDEX "runs_conversation_id_idx";

-- AlterTable
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_pkey",
ADD COLUMN     "created_by" UUID,
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "hint" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "revoked_at" TIMESTAMPTZ(3),
ADD COLUMN     "scopes" TEXT[],
ADD CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id");

-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "private" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "identities" DROP CONSTRAINT "identities_pkey",
ADD COLUMN     "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD COLUMN     "team_id" UUID NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001',
ADD CONSTRAINT "identities_pkey" PRIMARY KEY ("team_id", "subject");

-- AlterTable
ALTER TABLE "inbox_events" ADD COLUMN     "team_id" UUID;

-- AlterTable
ALTER TABLE "principals" ADD COLUMN     "disabled" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "team_id" UUID NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001',
ADD COLUMN     "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "remembered_answers" ADD COLUMN     "status" INTEGER NOT NULL DEFAULT 200;

-- AlterTable
ALTER TABLE "run_events" ADD COLUMN     "position" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint;

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "approval" JSONB,
ADD COLUMN     "continues_id" UUID,
ADD COLUMN     "cost_usd" DECIMAL(14,6),
ADD COLUMN     "skill_snapshot" JSONB,
ADD COLUMN     "team_id" UUID NOT NULL DEFAULT '00000000-0000-7000-8000-000000000001',
ADD COLUMN     "total_tokens" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "threads" ADD COLUMN     "verbosity" TEXT NOT NULL DEFAULT 'normal';

-- CreateTable
CREATE TABLE "teams" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "teams_pkey" PRIMARY KEY ("id")
);

-- The first team: everybody and everything there was until now is of it.
INSERT INTO "teams" ("id", "name") VALUES ('00000000-0000-7000-8000-000000000001', 'Team');
ALTER TABLE "identities" ALTER COLUMN "team_id" DROP DEFAULT;
ALTER TABLE "principals" ALTER COLUMN "team_id" DROP DEFAULT;
ALTER TABLE "runs" ALTER COLUMN "team_id" DROP DEFAULT;

-- The keys there were until now are the administrator's own.
UPDATE "api_keys" SET "name" = 'The installation''s own key',
  "scopes" = ARRAY['runs:read', 'runs:write', 'settings:read', 'settings:write', 'admin'];

-- CreateTable
CREATE TABLE "installations" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "adapter" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "name" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environments" (
    "id" TEXT NOT NULL,
    "team_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "config" JSONB NOT NULL,
    "setup_failed" BOOLEAN NOT NULL DEFAULT false,
    "creator_id" UUID NOT NULL,
    "last_editor_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secrets" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "editor_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "schedules" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "cron" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "prompt" TEXT NOT NULL,
    "config" JSONB NOT NULL,
    "metadata" JSONB NOT NULL,
    "team_owned" BOOLEAN NOT NULL,
    "creator_id" UUID NOT NULL,
    "last_editor_id" UUID NOT NULL,
    "next_run_at" TIMESTAMPTZ(3),
    "last_ran_at" TIMESTAMPTZ(3),
    "last_spawn_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "policies" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "effect" TEXT NOT NULL,
    "match" JSONB NOT NULL,
    "reason" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "creator_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "policies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "routing_rules" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "match" JSONB NOT NULL,
    "environment_id" TEXT,
    "config" JSONB NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "creator_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "routing_rules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "share_links" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "creator_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "share_links_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "worker_host" TEXT,
    "slots" INTEGER NOT NULL,
    "sandbox" TEXT NOT NULL,
    "isolated" BOOLEAN NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_inputs" (
    "run_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "blob_id" UUID NOT NULL,

    CONSTRAINT "run_inputs_pkey" PRIMARY KEY ("run_id","position")
);

-- CreateTable
CREATE TABLE "artifacts" (
    "id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "body" JSONB NOT NULL,
    "blob_id" UUID,
    "size_bytes" INTEGER,
    "hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "artifacts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "events" TEXT[],
    "enabled" BOOLEAN NOT NULL,
    "disabled_reason" TEXT,
    "secrets" JSONB NOT NULL,
    "created_by" UUID NOT NULL,
    "failing_since" TIMESTAMPTZ(6),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "run_id" UUID,
    "seq" INTEGER,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "step" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "due_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_tries" (
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT,

    CONSTRAINT "webhook_tries_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateTable
CREATE TABLE "log_readers" (
    "name" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,

    CONSTRAINT "log_readers_pkey" PRIMARY KEY ("name")
);

-- Webhooks are told of what happens from now on, beginning with the first event.
INSERT INTO "log_readers" ("name", "position", "run_id", "seq")
VALUES ('webhooks', pg_current_xact_id()::text::bigint, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 2147483647);

-- CreateIndex
CREATE UNIQUE INDEX "teams_name_key" ON "teams"("name");

-- CreateIndex
CREATE INDEX "installations_team_id_idx" ON "installations"("team_id");

-- CreateIndex
CREATE UNIQUE INDEX "installations_adapter_external_id_key" ON "installations"("adapter", "external_id");

-- CreateIndex
CREATE INDEX "environments_team_id_created_at_idx" ON "environments"("team_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "secrets_team_id_owner_id_name_key" ON "secrets"("team_id", "owner_id", "name");

-- CreateIndex
CREATE INDEX "schedules_team_id_name_idx" ON "schedules"("team_id", "name");

-- CreateIndex
CREATE INDEX "schedules_next_run_at_idx" ON "schedules"("next_run_at");

-- CreateIndex
CREATE UNIQUE INDEX "policies_team_id_name_key" ON "policies"("team_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "routing_rules_team_id_name_key" ON "routing_rules"("team_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "share_links_token_hash_key" ON "share_links"("token_hash");

-- CreateIndex
CREATE INDEX "share_links_run_id_idx" ON "share_links"("run_id");

-- CreateIndex
CREATE INDEX "workers_last_seen_at_idx" ON "workers"("last_seen_at");

-- CreateIndex
CREATE INDEX "run_inputs_blob_id_idx" ON "run_inputs"("blob_id");

-- CreateIndex
CREATE INDEX "artifacts_blob_id_idx" ON "artifacts"("blob_id");

-- CreateIndex
CREATE UNIQUE INDEX "artifacts_run_id_type_key_key" ON "artifacts"("run_id", "type", "key");

-- CreateIndex
CREATE INDEX "webhook_endpoints_team_id_id_idx" ON "webhook_endpoints"("team_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_endpoint_id_id_idx" ON "webhook_deliveries"("endpoint_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_state_due_at_idx" ON "webhook_deliveries"("state", "due_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_created_at_idx" ON "webhook_deliveries"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_endpoint_id_run_id_seq_key" ON "webhook_deliveries"("endpoint_id", "run_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "identities_id_key" ON "identities"("id");

-- CreateIndex
CREATE INDEX "inbox_events_team_id_seq_idx" ON "inbox_events"("team_id", "seq");

-- CreateIndex
CREATE INDEX "principals_team_id_id_idx" ON "principals"("team_id", "id");

-- CreateIndex
CREATE INDEX "run_events_position_run_id_seq_idx" ON "run_events"("position", "run_id", "seq");

-- CreateIndex
CREATE INDEX "runs_conversation_id_created_at_idx" ON "runs"("conversation_id", "created_at");

-- CreateIndex
CREATE INDEX "runs_team_id_skill_created_at_idx" ON "runs"("team_id", "skill", "created_at");

-- CreateIndex
CREATE INDEX "runs_environment_id_created_at_idx" ON "runs"("environment_id", "created_at");

-- AddForeignKey
ALTER TABLE "principals" ADD CONSTRAINT "principals_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "teams"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_inputs" ADD CONSTRAINT "run_inputs_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_inputs" ADD CONSTRAINT "run_inputs_blob_id_fkey" FOREIGN KEY ("blob_id") REFERENCES "blobs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_blob_id_fkey" FOREIGN KEY ("blob_id") REFERENCES "blobs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_tries" ADD CONSTRAINT "webhook_tries_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;
