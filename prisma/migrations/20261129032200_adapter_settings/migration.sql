-- CreateTable
CREATE TABLE "adapter_settings" (
    "id" TEXT NOT NULL,
    "adapter" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_by" UUID NOT NULL,

    CONSTRAINT "adapter_settings_pkey" PRIMARY KEY ("id")
);

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON adapter_settings
    FOR EACH ROW EXECUTE FUNCTION audit_row('adapter_setting');
