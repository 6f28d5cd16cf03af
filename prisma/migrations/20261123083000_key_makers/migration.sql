-- The key with which a key was created.
ALTER TABLE "api_keys" ADD COLUMN "created_by_key" UUID;
