-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "by_guest" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "guest_wrote" BOOLEAN,
ADD COLUMN     "skill_snapshots" JSONB;

-- AlterTable
ALTER TABLE "schedules" ADD COLUMN     "agent_uid" UUID,
ADD COLUMN     "mode" TEXT;

-- AlterTable
ALTER TABLE "share_links" ADD COLUMN     "access" TEXT NOT NULL DEFAULT 'VIEWER';

-- AlterTable
ALTER TABLE "teams" ADD COLUMN     "sharing" TEXT NOT NULL DEFAULT 'off';

-- CreateTable
CREATE TABLE "mcp_servers" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "config" JSONB NOT NULL,
    "sealed" TEXT NOT NULL,
    "creator_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "mcp_servers_team_id_name_key" ON "mcp_servers"("team_id", "name");
