-- CreateTable
CREATE TABLE "sign_ins" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "method" TEXT NOT NULL,
    "key_id" UUID,
    "token_hash" TEXT NOT NULL,
    "address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_ins_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_ins_token_hash_key" ON "sign_ins"("token_hash");

-- CreateIndex
CREATE INDEX "sign_ins_team_id_last_seen_at_idx" ON "sign_ins"("team_id", "last_seen_at");

-- CreateIndex
CREATE INDEX "sign_ins_principal_id_idx" ON "sign_ins"("principal_id");

-- CreateIndex
CREATE INDEX "sign_ins_expires_at_idx" ON "sign_ins"("expires_at");
