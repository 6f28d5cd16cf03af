-- AlterTable
ALTER TABLE "identities" ADD COLUMN     "linked_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "sign_in_links" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_links_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device_codes" (
    "id" UUID NOT NULL,
    "device_code_hash" TEXT NOT NULL,
    "user_code_hash" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "interval" INTEGER NOT NULL,
    "last_polled_at" TIMESTAMPTZ(3),
    "team_id" UUID,
    "principal_id" UUID,
    "key_id" UUID,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "device_codes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_links_token_hash_key" ON "sign_in_links"("token_hash");

-- CreateIndex
CREATE INDEX "sign_in_links_expires_at_idx" ON "sign_in_links"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "device_codes_device_code_hash_key" ON "device_codes"("device_code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_codes_user_code_hash_key" ON "device_codes"("user_code_hash");

-- CreateIndex
CREATE INDEX "device_codes_address_idx" ON "device_codes"("address");

-- CreateIndex
CREATE INDEX "device_codes_expires_at_idx" ON "device_codes"("expires_at");

-- By hand, because the schema cannot express triggers. Expired rows are deleted without an entry.
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON sign_ins
  FOR EACH ROW EXECUTE FUNCTION audit_row('sign_in', 'last_seen_at');
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON sign_in_links
  FOR EACH ROW EXECUTE FUNCTION audit_row('sign_in_link');
CREATE TRIGGER audit AFTER UPDATE ON device_codes
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION audit_row('device_code', 'last_polled_at');
