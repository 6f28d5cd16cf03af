-- CreateTable
CREATE TABLE "unconnected_events" (
    "inbox_id" UUID NOT NULL,
    "adapter" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "received_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "unconnected_events_pkey" PRIMARY KEY ("inbox_id")
);

-- CreateIndex
CREATE INDEX "unconnected_events_received_at_idx" ON "unconnected_events"("received_at");
