import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/basics/clock.ts";
import { SIGN_IN_MS } from "../../core/team/keys/sign-in-service.ts";
import { Signer } from "../http/signer.ts";

export interface SignedCookieDeps {
  readonly sessionSecret: string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

interface CookieKind {
  readonly name: string;
  readonly purpose: string;
  /** Browsers accept a `__Host-` cookie only from this host, over HTTPS and with the path `/`. */
  readonly securePrefix: "__Host-" | "__Secure-";
}

interface CookieAttributes {
  readonly maxAge: number;
  readonly path: string;
}

/**
 * A signed cookie with an expiry that scripts cannot read. `@fastify/cookie` reads and writes the headers. Its signer
 * has no expiry and no purpose, so the signature is ours.
 */
export class SignedCookie {
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #isSecure: boolean;
  readonly #name: string;

  constructor({ sessionSecret, publicUrl, clock }: SignedCookieDeps, kind: CookieKind) {
    this.#signer = new Signer(sessionSecret, kind.purpose);
    this.#clock = clock;
    this.#isSecure = !isLoopbackHttp(new URL(publicUrl()));
    this.#name = this.#isSecure ? `${kind.securePrefix}${kind.name}` : kind.name;
  }

  /** Sets the cookie. `word` must not contain a dot. */
  issue(reply: FastifyReply, word: string, maxAge: number, path = "/"): void {
    const payload = `${word}.${Math.floor(this.#clock.now().getTime() / 1_000) + maxAge}`;
    this.#set(reply, `${payload}.${this.#signer.sign(payload)}`, { maxAge, path });
  }

  /** Deletes the cookie in the browser. */
  clear(reply: FastifyReply, path = "/"): void {
    this.#set(reply, "", { maxAge: 0, path });
  }

  /** Returns the word of the cookie if the signature is valid and not expired. */
  read({ cookies }: Pick<FastifyRequest, "cookies">): string | undefined {
    const [word = "", expires = "", signature = ""] = cookies[this.#name]?.split(".") ?? [];
    if (!this.#signer.verify(`${word}.${expires}`, signature)) {
      return undefined;
    }
    return Number(expires) * 1_000 <= this.#clock.now().getTime() ? undefined : word;
  }

  #set(reply: FastifyReply, value: string, attributes: CookieAttributes): void {
    reply.setCookie(this.#name, value, {
      ...attributes,
      httpOnly: true,
      sameSite: "lax",
      secure: this.#isSecure,
    });
  }
}

function isLoopbackHttp({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

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
