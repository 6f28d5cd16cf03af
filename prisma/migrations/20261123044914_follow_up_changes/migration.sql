-- AlterTable
ALTER TABLE "follow_ups" ADD COLUMN     "edited_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_answer" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "resumes" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "source" TEXT NOT NULL DEFAULT 'API',
ADD COLUMN     "withdrawn_at" TIMESTAMPTZ(3);
