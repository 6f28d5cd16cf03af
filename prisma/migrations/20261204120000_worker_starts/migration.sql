-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "starts" JSONB;
