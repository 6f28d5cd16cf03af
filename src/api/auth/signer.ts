import { createHmac, timingSafeEqual } from "node:crypto";

/** Signs what leaves the server and must come back unchanged. What is signed for one purpose is no good for another. */
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
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }
}
