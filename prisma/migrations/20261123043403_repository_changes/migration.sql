-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "prepares_only" BOOLEAN;

-- CreateTable
CREATE TABLE "repository_changes" (
    "run_id" UUID NOT NULL,
    "owner" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "base" TEXT NOT NULL,
    "branch" TEXT,
    "head" TEXT,
    "pull_request" TEXT,
    "files" JSONB NOT NULL,
    "is_truncated" BOOLEAN NOT NULL,
    "blob_id" UUID NOT NULL,
    "size_bytes" INTEGER NOT NULL,

    CONSTRAINT "repository_changes_pkey" PRIMARY KEY ("run_id","owner","name")
);

-- CreateIndex
CREATE INDEX "repository_changes_blob_id_idx" ON "repository_changes"("blob_id");

-- AddForeignKey
ALTER TABLE "repository_changes" ADD CONSTRAINT "repository_changes_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repository_changes" ADD CONSTRAINT "repository_changes_blob_id_fkey" FOREIGN KEY ("blob_id") REFERENCES "blobs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
