-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "work_checkpoint" TEXT;
