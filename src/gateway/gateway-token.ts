import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";

const TOKEN_BYTES = 24;
const USER = "errand";
/** The name with which git calls the gateway as a proxy, so that its addresses stay those of the host. */
export const GIT_USER = "git";

/** Identifies the processes of an attempt to their gateway. It is worthless once the gateway is closed. */
export class GatewayToken {
  readonly text = randomBytes(TOKEN_BYTES).toString("base64url");
  readonly #texts = [this.text];

  /** The processes of the attempt may also name the other token. */
  accept(other: GatewayToken): void {
    this.#texts.push(other.text);
  }

  /** For programs that take the address of a proxy. */
  get userInfo(): string {
    return `${USER}:${this.text}`;
  }

  require(given: string | undefined): void {
    if (!this.#isKnown(given ?? "")) {
      throw new Refusal(404, "There is nothing at this address.");
    }
  }

  /** Whether git sends the request, through the gateway as the proxy of the repositories' host, and knows the token. */
  isGit(request: IncomingMessage): boolean {
    return this.#isKnown(proxyCredentials(request), GIT_USER);
  }

  requireProxy(request: IncomingMessage): void {
    if (this.#isKnown(proxyCredentials(request), USER)) {
      return;
    }
    const challenge = { "proxy-authenticate": 'Basic realm="errand"' };
    throw new Refusal(407, "The proxy wants the name and password of HTTP_PROXY.", challenge);
  }

  isIn(path: string): boolean {
    return this.#isKnown(path.split("/", 1)[0] ?? "");
  }

  #isKnown(given: string, user?: string): boolean {
    return this.#texts.some((text) => isSame(given, user === undefined ? text : `${user}:${text}`));
  }
}

/** A request without credentials, for the plain HTTP address of the repositories' host. */
export function isOpenGit({ headers, url = "" }: IncomingMessage, gitHost: string): boolean {
  const host = /^http:\/\/([^/?#@]+)\//i.exec(url)?.[1];
  return headers["proxy-authorization"] === undefined && host?.toLowerCase() === gitHost.toLowerCase();
}

function proxyCredentials({ headers }: IncomingMessage): string {
  const [, given = ""] = /^Basic +(\S+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
  return Buffer.from(given, "base64").toString();
}

/** Takes the same time whether or not the beginning is right. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
