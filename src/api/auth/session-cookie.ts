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

  /** The value of a Set-Cookie header. */
  issue(keyHash: string): string {
    return this.#cookie.issue(keyHash, LIFETIME_SECONDS);
  }

  clear(): string {
    return this.#cookie.clear();
  }

  /** The stored form of the key by a Cookie header, for a look whether there is such a key still. */
  read(header: string | undefined): string | undefined {
    return this.#cookie.read(header);
  }
}
