import { createHmac, timingSafeEqual } from "node:crypto";

/** Signs data that leaves the server and must come back unchanged. A signature is valid only for its purpose. */
export class Signer {
  readonly #secret: string;
  readonly #purpose: string;

  constructor(secret: string, purpose: string) {
    this.#secret = secret;
    this.#purpose = purpose;
  }

  sign(text: string): string {
    return createHmac("sha256", this.#secret).update(`${this.#purpose}:${text}`).digest("base64url");
  }

  verify(text: string, signature: string): boolean {
    const expected = Buffer.from(this.sign(text));
    const actual = Buffer.from(signature);
    return expected.length === actual.length && timingSafeEqual(expected, actual);
  }
}
