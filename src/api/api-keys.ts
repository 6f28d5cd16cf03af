import { createHmac, randomBytes } from "node:crypto";

const KEY_BYTES = 32;

/** A new API key: shown once, never stored. */
export function newApiKey(): string {
  return `errand_${randomBytes(KEY_BYTES).toString("base64url")}`;
}

/**
 * The form in which keys are stored and looked up. Keyed, so that a copy of the database alone is of no use;
 * fast, because a key of 256 random bits cannot be guessed.
 */
export function createKeyHasher(secret: string): (key: string) => string {
  return (key) => createHmac("sha256", secret).update(`api-key:${key}`).digest("hex");
}
