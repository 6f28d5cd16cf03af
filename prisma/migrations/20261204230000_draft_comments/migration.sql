-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "comments" JSONB;

-- CreateTable
CREATE TABLE "draft_comments" (
    "id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "author_id" UUID NOT NULL,
    "comment" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "draft_comments_pkey" PRIMARY KEY ("run_id","id")
);

-- AddForeignKey
ALTER TABLE "draft_comments" ADD CONSTRAINT "draft_comments_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
