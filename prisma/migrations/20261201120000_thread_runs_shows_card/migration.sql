-- AlterTable
ALTER TABLE "thread_runs" ADD COLUMN "shows_card" BOOLEAN NOT NULL DEFAULT true;
