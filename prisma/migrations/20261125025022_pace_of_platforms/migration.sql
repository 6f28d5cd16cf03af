-- AlterTable
ALTER TABLE "outbox_deliveries" ADD COLUMN     "reservation" TEXT;

-- CreateTable
CREATE TABLE "paces" (
    "key" TEXT NOT NULL,
    "used_until" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "tentative_until" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "closed_until" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "paces_pkey" PRIMARY KEY ("key")
);
