import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";

const TOKEN_BYTES = 24;
const USER = "errand";

/** Identifies the processes of an attempt to their gateway. It is worthless once the gateway is closed. */
export class GatewayToken {
  readonly text = randomBytes(TOKEN_BYTES).toString("base64url");

  /** For programs that take the address of a proxy. */
  get userInfo(): string {
    return `${USER}:${this.text}`;
  }

  require(given: string | undefined): void {
    if (!isSame(given ?? "", this.text)) {
      throw new Refusal(404, "There is nothing at this address.");
    }
  }

  requireProxy({ headers }: IncomingMessage): void {
    const [, given = ""] = /^Basic +(\S+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
    if (isSame(Buffer.from(given, "base64").toString(), this.userInfo)) {
      return;
    }
    const challenge = { "proxy-authenticate": 'Basic realm="errand"' };
    throw new Refusal(407, "The proxy wants the name and password of HTTP_PROXY.", challenge);
  }

  isIn(path: string): boolean {
    return isSame(path.split("/", 1)[0] ?? "", this.text);
  }
}

/** Takes the same time however much of it is right. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
