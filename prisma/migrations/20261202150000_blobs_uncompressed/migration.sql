-- Blobs are read in pieces. Of a compressed value, each piece unpacks all pieces before it. Rows that exist stay as they are.
ALTER TABLE "blobs" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
