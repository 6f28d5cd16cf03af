-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "context" TEXT,
ADD COLUMN     "message_ref" TEXT;
