-- AlterTable
ALTER TABLE "threads" ADD COLUMN "shows_card" BOOLEAN NOT NULL DEFAULT true;
