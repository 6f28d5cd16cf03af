-- AlterTable
ALTER TABLE "installations" ADD COLUMN     "organization_id" TEXT,
ADD COLUMN     "sealed_credentials" TEXT;

-- CreateTable
CREATE TABLE "installation_attempts" (
    "state_hash" TEXT NOT NULL,
    "adapter" TEXT NOT NULL,
    "team_id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "installation_attempts_pkey" PRIMARY KEY ("state_hash")
);

-- CreateIndex
CREATE INDEX "installation_attempts_expires_at_idx" ON "installation_attempts"("expires_at");
