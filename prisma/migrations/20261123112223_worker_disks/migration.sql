-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "disk" TEXT;

-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "disk" TEXT;
