-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "approval" JSONB;

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "waiting_follow_up" JSONB;
