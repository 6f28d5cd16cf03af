-- AlterTable
ALTER TABLE "principals" ADD COLUMN     "groups" TEXT[] DEFAULT ARRAY[]::TEXT[];
