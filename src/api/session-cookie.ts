import type { PrincipalId } from "../core/ids.ts";
import type { Clock } from "../core/ports/clock.ts";
import { Signer } from "./signer.ts";

const LIFETIME_SECONDS = 12 * 60 * 60;

export interface SessionCookieParts {
  readonly sessionSecret: string;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** The pages' cookie: who signed in and until when, signed. It holds no key, and opens nothing but reading. */
export class SessionCookies {
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #isSecure: boolean;

  constructor({ sessionSecret, publicUrl, clock }: SessionCookieParts) {
    this.#signer = new Signer(sessionSecret, "cookie");
    this.#clock = clock;
    this.#isSecure = !isLoopbackHttp(new URL(publicUrl));
  }

  /** The value of a Set-Cookie header. */
  issue(principalId: PrincipalId): string {
    const expires = Math.floor(this.#clock.now().getTime() / 1_000) + LIFETIME_SECONDS;
    const payload = `${principalId}.${expires}`;
    const value = `${payload}.${this.#signer.sign(payload)}`;
    const attributes = `Path=/; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Lax`;
    return `${this.#name}=${value}; ${attributes}${this.#isSecure ? "; Secure" : ""}`;
  }

  /** Who signed in, by a Cookie header; undefined when nobody did, or it is over or forged. */
  read(header: string | undefined): PrincipalId | undefined {
    const [id = "", expires = "", signature = ""] = this.#valueIn(header)?.split(".") ?? [];
    if (!this.#signer.verify(`${id}.${expires}`, signature)) return undefined;
    if (Number(expires) * 1_000 <= this.#clock.now().getTime()) return undefined;
    return id as PrincipalId;
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
