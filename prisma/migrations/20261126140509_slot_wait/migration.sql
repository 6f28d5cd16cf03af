-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "slot_wait_ms" INTEGER;
