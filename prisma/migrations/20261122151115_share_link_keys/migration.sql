-- AlterTable
ALTER TABLE "share_links" ADD COLUMN     "key_id" UUID;

-- CreateIndex
CREATE INDEX "share_links_expires_at_idx" ON "share_links"("expires_at");
