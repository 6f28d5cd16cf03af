-- CreateTable
CREATE TABLE "event_recoveries" (
    "adapter" TEXT NOT NULL,
    "begun_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "cursor" TEXT,

    CONSTRAINT "event_recoveries_pkey" PRIMARY KEY ("adapter")
);
