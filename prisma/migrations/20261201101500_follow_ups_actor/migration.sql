-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN "actor" JSONB;
