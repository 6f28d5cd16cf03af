-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "debug_until" TIMESTAMPTZ(3);
