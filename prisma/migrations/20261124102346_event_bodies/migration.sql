-- AlterTable
ALTER TABLE "inbox_events" ADD COLUMN     "body_kept_since" TIMESTAMPTZ(6);

-- CreateIndex
CREATE INDEX "inbox_events_body_kept_since_idx" ON "inbox_events"("body_kept_since");
