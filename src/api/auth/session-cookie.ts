import type { FastifyReply, FastifyRequest } from "fastify";
import { SIGN_IN_MS } from "../../core/team/keys/sign-in-service.ts";
import { SignedCookie, type SignedCookieDeps } from "./signed-cookie.ts";

/**
 * The pages' cookie. It contains the token of a sign-in, signed and with its expiry, so that a made-up token costs no
 * query.
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

  issue(reply: FastifyReply, token: string): void {
    this.#cookie.issue(reply, token, SIGN_IN_MS / 1_000);
  }

  clear(reply: FastifyReply): void {
    this.#cookie.clear(reply);
  }

  /** Returns the token. The caller must check that the sign-in is open. */
  read(request: Pick<FastifyRequest, "cookies">): string | undefined {
    return this.#cookie.read(request);
  }
}
