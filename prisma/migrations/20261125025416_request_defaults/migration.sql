-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "files" JSONB;

-- AlterTable
ALTER TABLE "run_inputs" ADD COLUMN     "follow_up_id" UUID;

-- AlterTable
ALTER TABLE "sign_in_links" ADD COLUMN     "subject" TEXT;

-- CreateTable
CREATE TABLE "request_defaults" (
    "id" UUID NOT NULL,
    "team_id" UUID NOT NULL,
    "scope" TEXT NOT NULL,
    "config" JSONB NOT NULL,
    "editor_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "request_defaults_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "request_defaults_team_id_idx" ON "request_defaults"("team_id");

CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON request_defaults
  FOR EACH ROW EXECUTE FUNCTION audit_row('request_defaults');
