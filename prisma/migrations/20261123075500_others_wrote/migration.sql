-- Personal secrets depend on whether anyone but the creator wrote, guests included.
ALTER TABLE "runs" RENAME COLUMN "guest_wrote" TO "others_wrote";
