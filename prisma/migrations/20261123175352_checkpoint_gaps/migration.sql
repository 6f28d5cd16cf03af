-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "checkpoint_gaps" TEXT;
