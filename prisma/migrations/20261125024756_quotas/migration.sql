-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "api_key_id" UUID;

-- AlterTable
ALTER TABLE "teams" ADD COLUMN     "quotas" JSONB;
