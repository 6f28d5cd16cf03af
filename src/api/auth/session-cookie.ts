import type { FastifyReply, FastifyRequest } from "fastify";
import { SignedCookie, type SignedCookieDeps } from "./signed-cookie.ts";

const LIFETIME_SECONDS = 12 * 60 * 60;

/**
 * The pages' cookie: with which key somebody signed in and until when. Of the key it holds the stored form, which opens
 * nothing by itself, so that it dies with the key. It opens nothing but reading.
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

  /** The stored form of the key. The caller must check that such a key still exists. */
  read(request: Pick<FastifyRequest, "cookies">): string | undefined {
    return this.#cookie.read(request);
  }
}
