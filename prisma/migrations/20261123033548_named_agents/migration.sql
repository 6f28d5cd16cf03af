-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "agent_version" TEXT,
ADD COLUMN     "executor_id" UUID,
ADD COLUMN     "requester_id" UUID,
ADD COLUMN     "secret_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "state_since" TIMESTAMPTZ(3),
ADD COLUMN     "warnings" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "named_agents" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "description" TEXT,
    "config" JSONB NOT NULL,
    "secret_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "on_behalf_of_enabled" BOOLEAN NOT NULL DEFAULT false,
    "others" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "named_agents_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "named_agents_team_id_created_at_idx" ON "named_agents"("team_id", "created_at");
