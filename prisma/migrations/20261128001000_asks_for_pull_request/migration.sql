-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN "asks_for_pull_request" BOOLEAN NOT NULL DEFAULT false;
