import type { Clock } from "../core/ports/clock.ts";
import { Signer } from "./signer.ts";

const LIFETIME_SECONDS = 12 * 60 * 60;

export interface SessionCookieParts {
  readonly sessionSecret: string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
}

/**
 * The pages' cookie: with which key somebody signed in and until when, signed. Of the key it holds the stored form,
 * which opens nothing by itself, so that it dies with the key. It opens nothing but reading.
 */
export class SessionCookies {
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #isSecure: boolean;

  constructor({ sessionSecret, publicUrl, clock }: SessionCookieParts) {
    this.#signer = new Signer(sessionSecret, "cookie");
    this.#clock = clock;
    this.#isSecure = !isLoopbackHttp(new URL(publicUrl()));
  }

  /** The value of a Set-Cookie header. */
  issue(keyHash: string): string {
    const expires = Math.floor(this.#clock.now().getTime() / 1_000) + LIFETIME_SECONDS;
    const payload = `${keyHash}.${expires}`;
    return this.#setCookie(`${payload}.${this.#signer.sign(payload)}`, LIFETIME_SECONDS);
  }

  /** The value of a Set-Cookie header that makes a browser forget it. */
  clear(): string {
    return this.#setCookie("", 0);
  }

  /** The stored form of the key by a Cookie header, for a look whether there is such a key still. */
  read(header: string | undefined): string | undefined {
    const [keyHash = "", expires = "", signature = ""] = this.#valueIn(header)?.split(".") ?? [];
    if (!this.#signer.verify(`${keyHash}.${expires}`, signature)) return undefined;
    if (Number(expires) * 1_000 <= this.#clock.now().getTime()) return undefined;
    return keyHash;
  }

  #setCookie(value: string, maxAgeSeconds: number): string {
    const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
    return `${this.#name}=${value}; ${attributes}${this.#isSecure ? "; Secure" : ""}`;
  }

  /** Browsers take a `__Host-` cookie from this very host over HTTPS alone. */
  get #name(): string {
    return this.#isSecure ? "__Host-errand_session" : "errand_session";
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
