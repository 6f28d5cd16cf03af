-- AlterTable
ALTER TABLE "inbox_events" ADD COLUMN "waits_with" UUID;
