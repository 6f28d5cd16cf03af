-- AlterTable
ALTER TABLE "installations" ADD COLUMN     "problem" TEXT;
