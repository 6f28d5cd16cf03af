-- CreateTable
CREATE TABLE "deleted_run_uses" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "api_key_id" UUID,
    "cost_usd" DECIMAL(14,6),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deleted_run_uses_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deleted_run_uses_team_id_created_at_idx" ON "deleted_run_uses"("team_id", "created_at");

-- CreateIndex
CREATE INDEX "deleted_run_uses_created_at_idx" ON "deleted_run_uses"("created_at");
