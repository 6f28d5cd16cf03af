-- AlterTable
ALTER TABLE "runs" ADD COLUMN "pause" JSONB;
