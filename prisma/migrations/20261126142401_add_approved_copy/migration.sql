-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "executes" JSONB;
