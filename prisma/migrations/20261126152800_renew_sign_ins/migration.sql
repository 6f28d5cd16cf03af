-- AlterTable
ALTER TABLE "principals" ADD COLUMN     "role_from_group" BOOLEAN,
ADD COLUMN     "suspended_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "sign_ins" ADD COLUMN     "attempt_hash" TEXT,
ADD COLUMN     "proven_at" TIMESTAMPTZ(3),
ADD COLUMN     "renew_after" TIMESTAMPTZ(3),
ADD COLUMN     "sealed_renewal" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "sign_ins_attempt_hash_key" ON "sign_ins"("attempt_hash");

-- By hand, because the schema cannot express triggers. The server writes these columns while it renews sign-ins.
DROP TRIGGER audit ON sign_ins;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON sign_ins
  FOR EACH ROW EXECUTE FUNCTION audit_row('sign_in', 'last_seen_at', 'proven_at', 'renew_after', 'sealed_renewal', 'attempt_hash');
