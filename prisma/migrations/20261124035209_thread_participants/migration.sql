-- AlterTable
ALTER TABLE "threads" ADD COLUMN     "needs_mention" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "participants" TEXT[] DEFAULT ARRAY[]::TEXT[];
