-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "disk_use" JSONB;
