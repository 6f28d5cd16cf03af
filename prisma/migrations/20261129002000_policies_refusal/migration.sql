-- AlterTable
ALTER TABLE "policies" ADD COLUMN "refusal" TEXT;
