import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SecretBox } from "../core/basics/crypto.ts";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1";

/**
 * AES-256-GCM with a new nonce for each value. The first key seals, and all keys open, so that a new key can be
 * introduced while values sealed with the old one exist. Keys are 32 bytes in base64url.
 */
export function createSecretBox(keys: readonly [string, ...string[]]): SecretBox {
  const byId = new Map(keys.map((key) => [idOf(key), Buffer.from(key, "base64url")]));
  const sealingId = idOf(keys[0]);
  return {
    prefix: prefixOf(sealingId),
    prefixes: [...byId.keys()].map(prefixOf),
    seal: (text, owner) => seal(text, owner, sealingId, keyOf(byId, sealingId)),
    bytesOf: (sealed) => Buffer.byteLength(sealed.split(".")[2] ?? "", "base64url") - NONCE_BYTES - TAG_BYTES,
    open(sealed, owner) {
      const [version, keyId = "", payload = ""] = sealed.split(".");
      if (version !== VERSION) {
        throw unreadable();
      }
      return open(Buffer.from(payload, "base64url"), owner, keyOf(byId, keyId));
    },
  };
}

function seal(text: string, owner: string, keyId: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(owner),
  );
  const parts = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return `${VERSION}.${keyId}.${Buffer.concat(parts).toString("base64url")}`;
}

function open(payload: Buffer, owner: string, key: Buffer): string {
  const nonce = payload.subarray(0, NONCE_BYTES);
  const tag = payload.subarray(-TAG_BYTES);
  try {
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
    return (
      decipher.update(payload.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
    );
  } catch (cause) {
    throw unreadable(cause);
  }
}

function keyOf(keys: ReadonlyMap<string, Buffer>, id: string): Buffer {
  const key = keys.get(id);
  if (key === undefined) {
    throw unreadable();
  }
  return key;
}

function prefixOf(keyId: string): string {
  return `${VERSION}.${keyId}.`;
}

/** Distinguishes keys without revealing anything about them. */
function idOf(key: string): string {
  return createHash("sha256").update(`key id:${key}`).digest("hex").slice(0, 8);
}

/** The key, the owner or the text differs from what was sealed. The error does not tell which. */
function unreadable(cause?: unknown): Error {
  return new Error("A sealed value cannot be opened with the keys that are set.", { cause });
}
