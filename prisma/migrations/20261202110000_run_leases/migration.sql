-- Half of each page stays free, so that a renewal writes the new row beside the old one and no index (HOT update).
CREATE TABLE "run_leases" (
    "run_id" UUID NOT NULL,
    "token" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "run_leases_pkey" PRIMARY KEY ("run_id")
) WITH (fillfactor = 50);
