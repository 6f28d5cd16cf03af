import { createHmac, randomBytes } from "node:crypto";
import type { MadeKey } from "../../core/team/keys/key-service.ts";
import { KEY_PREFIX } from "../http/hide-keys.ts";

const KEY_BYTES = 32;

/** Returns a new API key. It is shown once and never stored. */
export function newApiKey(): string {
  return `${KEY_PREFIX}${randomBytes(KEY_BYTES).toString("base64url")}`;
}

const HINT_LENGTH = 5;

/** The beginning of a key: enough for its owner to recognise it, too little to be of use to others. */
export function keyHint(key: string): string {
  const shown = key.startsWith(KEY_PREFIX) ? KEY_PREFIX.length + HINT_LENGTH : HINT_LENGTH;
  return `${key.slice(0, shown)}…`;
}

/** Returns a new key together with everything that is stored of it. */
export function makeKey(hashKey: KeyHasher): MadeKey {
  const secret = newApiKey();
  return { secret, hash: hashKey(secret), hint: keyHint(secret) };
}

/** Returns a new token for a share link or a sign-in. */
export function newToken(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

export type KeyHasher = (key: string) => string;

/**
 * Returns the function that computes the stored form of keys and of share link tokens. The hash is keyed, so that a
 * copy of the database alone is useless. It is fast, because 256 random bits cannot be guessed.
 *
 * Hashes are compared by an index lookup, which does not take constant time. That is safe: the duration can reveal
 * only how much of a stored hash equals the hash of a guess. Without the secret, nobody can choose a guess by its
 * hash or find the key of a hash. The server's own comparisons (signatures of cookies and cursors) take constant
 * time.
 */
export function createKeyHasher(secret: string): KeyHasher {
  return (key) => createHmac("sha256", secret).update(`api-key:${key}`).digest("hex");
}
