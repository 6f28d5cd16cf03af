-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "checkpoint_at" TIMESTAMPTZ(3),
ADD COLUMN     "checkpoint_delta" TEXT;
