/** The SHA-256 of a text (as UTF-8) or of bytes, as lower-case hexadecimal digits. */
export type Digest = (content: string | Uint8Array) => string;
