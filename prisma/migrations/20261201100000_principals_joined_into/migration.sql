-- AlterTable
ALTER TABLE "principals" ADD COLUMN "joined_into" UUID;
