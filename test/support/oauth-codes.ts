import { createHash, randomUUID } from "node:crypto";
import type { FrontAnswer } from "./front-server.ts";

interface Granted<Account> {
  readonly account: Account;
  readonly request: URLSearchParams;
}

/** The authorization codes of an emulated service. Nobody is asked: the account `next` signs in. */
export class OauthCodes<Account> {
  next: Account | undefined;
  readonly #clientId: string;
  readonly #clientSecret: string;
  readonly #granted = new Map<string, Granted<Account>>();

  constructor({ clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string }) {
    this.#clientId = clientId;
    this.#clientSecret = clientSecret;
  }

  /** Sends the browser back with a code, as the page of the service does after the person has agreed. */
  authorize(search: string): FrontAnswer {
    const request = new URLSearchParams(search);
    if (request.get("client_id") !== this.#clientId || this.next === undefined) {
      return { status: 400, headers: {}, body: "The application is unknown." };
    }
    const code = randomUUID();
    this.#granted.set(code, { account: this.next, request });
    const back = new URL(request.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", request.get("state") ?? "");
    return { status: 302, headers: { location: back.href }, body: "" };
  }

  /** Who the code belongs to, once. Undefined: the request has no right to know. */
  redeem(body: string): Granted<Account> | undefined {
    const form = new URLSearchParams(body);
    const code = form.get("code") ?? "";
    const granted = this.#granted.get(code);
    this.#granted.delete(code);
    const challenge = granted?.request.get("code_challenge");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      form.get("client_id") === this.#clientId &&
      form.get("client_secret") === this.#clientSecret &&
      form.get("redirect_uri") === granted?.request.get("redirect_uri") &&
      (challenge === null || challenge === undefined || challenge === verifier);
    return isRight ? granted : undefined;
  }
}
