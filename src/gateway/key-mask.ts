import { Transform, type TransformCallback } from "node:stream";

/** Shorter values are not secrets, and they occur in ordinary words. */
const LENGTH_MIN = 8;
const STAR = "*";

/**
 * Masks keys in responses, because some upstreams repeat what they received. Each key is replaced by the same number
 * of stars, so that the content length stays right. Only a possible beginning of a key is held back.
 */
export class KeyMask extends Transform {
  readonly #keys: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(keys: readonly string[]) {
    super();
    this.#keys = keys.filter(({ length }) => length >= LENGTH_MIN).map((key) => Buffer.from(key));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#covered(Buffer.concat([this.#held, chunk]));
    const end = bytes.length - Math.max(0, ...this.#keys.map((key) => begunAtEnd(bytes, key)));
    this.#held = bytes.subarray(end);
    done(null, bytes.subarray(0, end));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held);
  }

  #covered(bytes: Buffer): Buffer {
    for (const key of this.#keys) {
      let at = bytes.indexOf(key);
      for (; at !== -1; at = bytes.indexOf(key, at + key.length)) {
        bytes.fill(STAR, at, at + key.length);
      }
    }
    return bytes;
  }
}

/** The number of bytes at the end that may be the beginning of a key. */
function begunAtEnd(bytes: Buffer, key: Buffer): number {
  for (let length = Math.min(key.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(-length).equals(key.subarray(0, length))) {
      return length;
    }
  }
  return 0;
}

/** Secrets of an address, also as they are written in it. */
export function keysInUrl(secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => [secret, encodeURIComponent(secret), encodeURI(secret)]);
}

/** The value of a header, and the part of it after a scheme such as `Bearer`. */
export function keysIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/).slice(1)]);
}
