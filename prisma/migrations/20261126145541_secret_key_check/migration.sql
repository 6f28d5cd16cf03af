-- CreateTable
CREATE TABLE "secret_key_checks" (
    "id" INTEGER NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "secret_key_checks_pkey" PRIMARY KEY ("id")
);
