-- AlterTable
ALTER TABLE "inbox_events" ADD COLUMN     "message_id" TEXT,
ADD COLUMN     "message_version" TEXT;

-- CreateIndex
CREATE INDEX "inbox_events_message_id_idx" ON "inbox_events"("message_id");
