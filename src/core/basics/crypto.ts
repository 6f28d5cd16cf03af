/** Encrypts secrets at rest. */
export interface SecretBox {
  /** What all values begin with that are sealed under the present key. */
  readonly prefix: string;
  /** What values begin with that can be opened: the prefix of the present key, and those of earlier keys. */
  readonly prefixes: readonly string[];
  /** Encrypts `text` for this `owner`. The same text gives a different result each time. */
  seal(text: string, owner: string): string;
  /** The length of the text in a sealed value, in bytes. */
  bytesOf(sealed: string): number;
  /** Throws when `sealed` was changed, belongs to another owner, or was sealed with an unknown key. */
  open(sealed: string, owner: string): string;
}

/** The SHA-256 of a text (as UTF-8) or of bytes, as lower-case hexadecimal digits. */
export type Digest = (content: string | Uint8Array) => string;
