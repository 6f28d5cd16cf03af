-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "thread_id" UUID;
