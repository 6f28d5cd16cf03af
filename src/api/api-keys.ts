import { createHmac, randomBytes } from "node:crypto";

const KEY_BYTES = 32;
const PREFIX = "errand_";

/** A new API key: shown once, never stored. */
export function newApiKey(): string {
  return `${PREFIX}${randomBytes(KEY_BYTES).toString("base64url")}`;
}

const HINT_LENGTH = 5;

/** Enough of a key for its owner to know it again, and too little to be of any other use. */
export function keyHint(key: string): string {
  const shown = key.startsWith(PREFIX) ? PREFIX.length + HINT_LENGTH : HINT_LENGTH;
  return `${key.slice(0, shown)}…`;
}

/**
 * The form in which keys are stored and looked up. Keyed, so that a copy of the database alone is of no use;
 * fast, because a key of 256 random bits cannot be guessed.
 */
export function createKeyHasher(secret: string): (key: string) => string {
  return (key) => createHmac("sha256", secret).update(`api-key:${key}`).digest("hex");
}
