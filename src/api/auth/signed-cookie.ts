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

/** A word that a browser keeps for us until some time, signed, and that scripts cannot read. */
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

  /** The value of a Set-Cookie header. `word` has no dot. */
  issue(word: string, lifetimeSeconds: number, path = "/"): string {
    const payload = `${word}.${Math.floor(this.#clock.now().getTime() / 1_000) + lifetimeSeconds}`;
    return this.#setCookie(`${payload}.${this.#signer.sign(payload)}`, lifetimeSeconds, path);
  }

  /** The value of a Set-Cookie header that makes a browser forget it. */
  clear(): string {
    return this.#setCookie("", 0, "/");
  }

  /** The word in a Cookie header, if we said it and it is not over. */
  read(header: string | undefined): string | undefined {
    const [word = "", expires = "", signature = ""] = this.#valueIn(header)?.split(".") ?? [];
    if (!this.#signer.verify(`${word}.${expires}`, signature)) return undefined;
    return Number(expires) * 1_000 <= this.#clock.now().getTime() ? undefined : word;
  }

  #setCookie(value: string, maxAgeSeconds: number, path: string): string {
    const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
    return `${this.#name}=${value}; ${attributes}${this.#isSecure ? "; Secure" : ""}`;
  }

  #valueIn(header: string | undefined): string | undefined {
    const prefix = `${this.#name}=`;
    const pair = header?.split(";").find((part) => part.trim().startsWith(prefix));
    return pair?.trim().slice(prefix.length);
  }
}

function isLoopbackHttp({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
