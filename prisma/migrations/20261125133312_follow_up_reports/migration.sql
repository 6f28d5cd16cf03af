-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "is_report" BOOLEAN NOT NULL DEFAULT false;
