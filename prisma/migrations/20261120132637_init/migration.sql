-- CreateTable
CREATE TABLE "principals" (
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "display_name" TEXT,
    "email" TEXT,
    "photo_url" TEXT,
    "administrator" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "principals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identities" (
    "subject" TEXT NOT NULL,
    "principal_id" UUID NOT NULL,

    CONSTRAINT "identities_pkey" PRIMARY KEY ("subject")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "hash" TEXT NOT NULL,
    "principal_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "prompt" TEXT NOT NULL,
    "context" TEXT,
    "mode" TEXT,
    "source" TEXT NOT NULL,
    "creator_id" UUID NOT NULL,
    "team_owned" BOOLEAN NOT NULL,
    "config" JSONB NOT NULL,
    "agent" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "metadata_pairs" TEXT[],
    "config_name" TEXT,
    "model_id" TEXT,
    "environment_id" TEXT,
    "skill" TEXT,
    "schedule_id" UUID,
    "artifact_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "trigger_url" TEXT,
    "ancestor_ids" UUID[],
    "conversation_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "provenance" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "status_message" JSONB,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "turn" INTEGER NOT NULL DEFAULT 0,
    "turn_open" BOOLEAN NOT NULL DEFAULT false,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "lost_attempts" INTEGER NOT NULL DEFAULT 0,
    "agent_session" TEXT,
    "checkpoint" TEXT,
    "permission" JSONB,
    "answer" TEXT,
    "last_write" UUID,
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "lease_token" UUID,
    "lease_worker" TEXT,
    "lease_expires_at" TIMESTAMPTZ(6),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_events" (
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL,
    "body" JSONB NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("run_id","seq")
);

-- CreateTable
CREATE TABLE "follow_ups" (
    "id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "message" TEXT NOT NULL,
    "mode" TEXT,
    "delivery" TEXT NOT NULL,
    "author_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "turn" INTEGER,

    CONSTRAINT "follow_ups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "threads" (
    "id" UUID NOT NULL,
    "adapter" TEXT NOT NULL,
    "installation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "run_id" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "threads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "thread_runs" (
    "thread_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "bound_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "thread_runs_pkey" PRIMARY KEY ("thread_id","run_id")
);

-- CreateTable
CREATE TABLE "inbox_events" (
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "adapter" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disposition" TEXT,
    "reason" TEXT,
    "run_id" UUID,
    "settled_at" TIMESTAMPTZ(6),
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "inbox_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbound_meanings" (
    "meaning" TEXT NOT NULL,
    "inbox_id" UUID NOT NULL,

    CONSTRAINT "inbound_meanings_pkey" PRIMARY KEY ("meaning")
);

-- CreateTable
CREATE TABLE "outbox_deliveries" (
    "id" BIGSERIAL NOT NULL,
    "uid" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "notice" JSONB NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "due_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receipts" (
    "thread_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "receipt" TEXT NOT NULL,

    CONSTRAINT "receipts_pkey" PRIMARY KEY ("thread_id","slot")
);

-- CreateTable
CREATE TABLE "remembered_answers" (
    "principal_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "remembered_answers_pkey" PRIMARY KEY ("principal_id","key")
);

-- CreateTable
CREATE TABLE "blobs" (
    "id" UUID NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "identities_principal_id_idx" ON "identities"("principal_id");

-- CreateIndex
CREATE INDEX "api_keys_principal_id_idx" ON "api_keys"("principal_id");

-- CreateIndex
CREATE UNIQUE INDEX "runs_session_id_key" ON "runs"("session_id");

-- CreateIndex
CREATE INDEX "runs_updated_at_id_idx" ON "runs"("updated_at", "id");

-- CreateIndex
CREATE INDEX "runs_created_at_id_idx" ON "runs"("created_at", "id");

-- CreateIndex
CREATE INDEX "runs_title_id_idx" ON "runs"("title", "id");

-- CreateIndex
CREATE INDEX "runs_agent_id_idx" ON "runs"("agent", "id");

-- CreateIndex
CREATE INDEX "runs_state_updated_at_id_idx" ON "runs"("state", "updated_at", "id");

-- CreateIndex
CREATE INDEX "runs_creator_id_updated_at_id_idx" ON "runs"("creator_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "runs_lease_expires_at_idx" ON "runs"("lease_expires_at");

-- CreateIndex
CREATE INDEX "runs_conversation_id_idx" ON "runs"("conversation_id");

-- CreateIndex
CREATE INDEX "runs_metadata_pairs_idx" ON "runs" USING GIN ("metadata_pairs");

-- CreateIndex
CREATE INDEX "runs_ancestor_ids_idx" ON "runs" USING GIN ("ancestor_ids");

-- CreateIndex
CREATE INDEX "runs_artifact_types_idx" ON "runs" USING GIN ("artifact_types");

-- CreateIndex
CREATE INDEX "follow_ups_run_id_turn_idx" ON "follow_ups"("run_id", "turn");

-- CreateIndex
CREATE UNIQUE INDEX "follow_ups_run_id_seq_key" ON "follow_ups"("run_id", "seq");

-- CreateIndex
CREATE INDEX "threads_run_id_idx" ON "threads"("run_id");

-- CreateIndex
CREATE UNIQUE INDEX "threads_adapter_installation_key_key" ON "threads"("adapter", "installation", "key");

-- CreateIndex
CREATE INDEX "thread_runs_run_id_idx" ON "thread_runs"("run_id");

-- CreateIndex
CREATE UNIQUE INDEX "inbox_events_seq_key" ON "inbox_events"("seq");

-- CreateIndex
CREATE INDEX "inbox_events_lane_disposition_seq_idx" ON "inbox_events"("lane", "disposition", "seq");

-- CreateIndex
CREATE INDEX "inbox_events_disposition_received_at_idx" ON "inbox_events"("disposition", "received_at");

-- CreateIndex
CREATE UNIQUE INDEX "inbox_events_adapter_delivery_id_key" ON "inbox_events"("adapter", "delivery_id");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_deliveries_uid_key" ON "outbox_deliveries"("uid");

-- CreateIndex
CREATE INDEX "outbox_deliveries_thread_id_state_id_idx" ON "outbox_deliveries"("thread_id", "state", "id");

-- CreateIndex
CREATE INDEX "outbox_deliveries_state_due_at_idx" ON "outbox_deliveries"("state", "due_at");

-- CreateIndex
CREATE INDEX "remembered_answers_created_at_idx" ON "remembered_answers"("created_at");

-- AddForeignKey
ALTER TABLE "identities" ADD CONSTRAINT "identities_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_creator_id_fkey" FOREIGN KEY ("creator_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "follow_ups" ADD CONSTRAINT "follow_ups_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "threads" ADD CONSTRAINT "threads_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "thread_runs" ADD CONSTRAINT "thread_runs_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "thread_runs" ADD CONSTRAINT "thread_runs_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "outbox_deliveries" ADD CONSTRAINT "outbox_deliveries_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
