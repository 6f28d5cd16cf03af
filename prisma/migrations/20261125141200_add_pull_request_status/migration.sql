-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "pull_request_status" JSONB;
