-- A deleted run takes these rows along. They are found by its id.

-- CreateIndex
CREATE INDEX "idempotent_responses_run_id_idx" ON "idempotent_responses"("run_id");

-- CreateIndex
CREATE INDEX "inbox_events_run_id_idx" ON "inbox_events"("run_id");

-- CreateIndex
CREATE INDEX "outbox_deliveries_run_id_idx" ON "outbox_deliveries"("run_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_run_id_idx" ON "webhook_deliveries"("run_id");
