-- A blob is in the database or in an object store. Processes of the previous release store blobs in the database.
ALTER TABLE "blobs" ALTER COLUMN "bytes" DROP NOT NULL;
ALTER TABLE "blobs" ADD COLUMN "location" TEXT;
ALTER TABLE "blobs" ADD CONSTRAINT "blobs_location_check" CHECK (("location" IS NULL) = ("bytes" IS NOT NULL));
CREATE INDEX "blobs_location_idx" ON "blobs"("location") WHERE ("location" IS NOT NULL);

CREATE TABLE "blob_removals" (
    "id" UUID NOT NULL,
    "location" TEXT NOT NULL,
    CONSTRAINT "blob_removals_pkey" PRIMARY KEY ("location", "id")
);

-- Rows of blobs are deleted in many places. Each leaves word of its object in the same transaction.
CREATE FUNCTION "remove_object"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO blob_removals (id, location) VALUES (OLD.id, OLD.location) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "blobs_deleted" AFTER DELETE ON "blobs"
  FOR EACH ROW WHEN (OLD.location IS NOT NULL) EXECUTE FUNCTION remove_object();
CREATE TRIGGER "blobs_moved" AFTER UPDATE OF "location" ON "blobs"
  FOR EACH ROW WHEN (OLD.location IS NOT NULL AND NEW.location IS DISTINCT FROM OLD.location)
  EXECUTE FUNCTION remove_object();
