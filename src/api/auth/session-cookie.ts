import type { FastifyReply, FastifyRequest } from "fastify";
import { SignedCookie, type SignedCookieDeps } from "./signed-cookie.ts";

const LIFETIME_SECONDS = 12 * 60 * 60;

/**
 * The pages' cookie. It contains the stored form of the key that signed in, which is not accepted as a key, and an
 * expiry. The session ends when the key is revoked. The cookie allows only reading.
 */
export class SessionCookies {
  readonly #cookie: SignedCookie;

  constructor(deps: SignedCookieDeps) {
    this.#cookie = new SignedCookie(deps, {
      name: "errand_session",
      purpose: "cookie",
      securePrefix: "__Host-",
    });
  }

  issue(reply: FastifyReply, keyHash: string): void {
    this.#cookie.issue(reply, keyHash, LIFETIME_SECONDS);
  }

  clear(reply: FastifyReply): void {
    this.#cookie.clear(reply);
  }

  /** Returns the stored form of the key. The caller must check that the key still exists. */
  read(request: Pick<FastifyRequest, "cookies">): string | undefined {
    return this.#cookie.read(request);
  }
}
