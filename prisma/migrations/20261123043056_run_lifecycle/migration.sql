-- AlterTable
ALTER TABLE "idempotent_responses" ADD COLUMN     "run_id" UUID;

-- AlterTable
ALTER TABLE "outbox_deliveries" ADD COLUMN     "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "delivered_at" TIMESTAMPTZ(3),
ADD COLUMN     "earlier_tries" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "permalink" TEXT,
ADD COLUMN     "run_id" UUID;

-- AlterTable
ALTER TABLE "webhook_endpoints" ADD COLUMN     "run_id" UUID;

-- CreateIndex
CREATE UNIQUE INDEX "webhook_endpoints_run_id_key" ON "webhook_endpoints"("run_id");
