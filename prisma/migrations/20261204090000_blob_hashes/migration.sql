-- AlterTable
ALTER TABLE "blobs" ADD COLUMN     "sha256" TEXT,
ADD COLUMN     "size_bytes" BIGINT;
