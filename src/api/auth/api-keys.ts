import { createHmac, randomBytes } from "node:crypto";
import type { MadeKey } from "../../core/people/key-service.ts";

const KEY_BYTES = 32;
const PREFIX = "errand_";

/** A new API key: shown once, never stored. */
export function newApiKey(): string {
  return `${PREFIX}${randomBytes(KEY_BYTES).toString("base64url")}`;
}

const KEY = new RegExp(`${PREFIX}[\\w-]{43}`, "g");

/** For texts that a caller may have put a key into by mistake. */
export function hideKeys(text: string): string {
  return text.replace(KEY, "[redacted]");
}

const HINT_LENGTH = 5;

/** Enough of a key for its owner to know it again, and too little to be of any other use. */
export function keyHint(key: string): string {
  const shown = key.startsWith(PREFIX) ? PREFIX.length + HINT_LENGTH : HINT_LENGTH;
  return `${key.slice(0, shown)}…`;
}

/** A new key with all that is kept of it. */
export function makeKey(hashKey: KeyHasher): MadeKey {
  const secret = newApiKey();
  return { secret, hash: hashKey(secret), hint: keyHint(secret) };
}

/** What a share link carries. */
export function newShareToken(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

export type KeyHasher = (key: string) => string;

/**
 * The form in which keys and the tokens of share links are stored and looked up. Keyed, so that a copy of the database
 * alone is of no use; fast, because 256 random bits cannot be guessed.
 *
 * The look-up compares hashes in an index, and not in constant time. That is enough: what its duration could tell is
 * how far a stored hash agrees with that of a guess, and without the secret nobody can choose a guess for its hash, nor
 * find a key that belongs to a hash. Where we compare by ourselves (signatures of cookies and cursors), it is constant.
 */
export function createKeyHasher(secret: string): KeyHasher {
  return (key) => createHmac("sha256", secret).update(`api-key:${key}`).digest("hex");
}
