-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "activity" JSONB,
ADD COLUMN     "pull_request" TEXT;
