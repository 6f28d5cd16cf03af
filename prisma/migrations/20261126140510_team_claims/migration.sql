-- CreateTable
CREATE TABLE "team_claims" (
    "team_id" UUID NOT NULL,
    "claimed_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "team_claims_pkey" PRIMARY KEY ("team_id")
);
