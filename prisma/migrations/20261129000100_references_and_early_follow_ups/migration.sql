-- AlterTable
ALTER TABLE "runs" ADD COLUMN "early_follow_ups" BOOLEAN;

-- To find the run of a message, an issue or a pull request by its address.
CREATE INDEX "runs_trigger_url_idx" ON "runs" ("trigger_url" COLLATE "C") WHERE "trigger_url" IS NOT NULL;
CREATE INDEX "artifacts_references_idx" ON "artifacts" ("key" COLLATE "C")
  WHERE "type" IN ('PULL_REQUEST', 'EXTERNAL_REFERENCE');
