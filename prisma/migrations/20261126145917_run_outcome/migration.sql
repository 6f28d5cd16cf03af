-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "outcome" JSONB;
