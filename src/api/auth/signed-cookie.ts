import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/ports/clock.ts";
import { Signer } from "./signer.ts";

export interface SignedCookieDeps {
  readonly sessionSecret: string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

interface CookieKind {
  readonly name: string;
  readonly purpose: string;
  /** Browsers take a `__Host-` cookie from this very host, over HTTPS and for all of its paths alone. */
  readonly securePrefix: "__Host-" | "__Secure-";
}

interface CookieAttributes {
  readonly maxAge: number;
  readonly path: string;
}

/**
 * A word that a browser keeps for us until some time, signed, and that scripts cannot read. `@fastify/cookie` reads and
 * writes the headers. Its signer has no expiry and no purpose, so the signature is ours.
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

  /** `word` has no dot. */
  issue(reply: FastifyReply, word: string, maxAge: number, path = "/"): void {
    const payload = `${word}.${Math.floor(this.#clock.now().getTime() / 1_000) + maxAge}`;
    this.#set(reply, `${payload}.${this.#signer.sign(payload)}`, { maxAge, path });
  }

  /** Makes the browser forget the cookie. */
  clear(reply: FastifyReply): void {
    this.#set(reply, "", { maxAge: 0, path: "/" });
  }

  /** The word that the browser sent, if we signed it and it has not expired. */
  read({ cookies }: Pick<FastifyRequest, "cookies">): string | undefined {
    const [word = "", expires = "", signature = ""] = cookies[this.#name]?.split(".") ?? [];
    if (!this.#signer.verify(`${word}.${expires}`, signature)) return undefined;
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
