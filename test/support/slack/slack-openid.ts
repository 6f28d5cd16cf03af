import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import { OauthCodes } from "../oauth-codes.ts";
import type { SlackApp, SlackUser } from "./slack-workspace.ts";

/** "Sign in with Slack", which emulate lacks. */
export class SlackOpenid {
  readonly codes: OauthCodes<SlackUser>;
  /** Members of the next token that differ from those of the account. */
  changes: Readonly<Record<string, unknown>> = {};
  readonly #app: SlackApp;

  constructor(app: SlackApp) {
    this.#app = app;
    this.codes = new OauthCodes(app);
  }

  /** Undefined: the request is for another method. */
  answer({ body, path, search }: FrontRequest): FrontAnswer | undefined {
    if (path === "/openid/connect/authorize") {
      return this.codes.authorize(search);
    }
    if (path !== "/api/openid.connect.token") {
      return undefined;
    }
    const granted = this.codes.redeem(body.toString());
    if (granted === undefined) {
      return jsonAnswer(200, { ok: false, error: "invalid_code" });
    }
    const { account, request } = granted;
    const claims = {
      iss: "https://slack.com",
      aud: this.#app.clientId,
      sub: account.id,
      exp: Math.floor(Date.now() / 1_000) + 300,
      nonce: request.get("nonce"),
      name: account.name,
      email: `${account.name}@acme.example`,
      email_verified: true,
      "https://slack.com/team_id": account.teamId,
      "https://slack.com/user_id": account.id,
      ...this.changes,
    };
    const token = [{ alg: "RS256" }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    return jsonAnswer(200, { ok: true, access_token: "xoxp-a-token", id_token: [...token, "sig"].join(".") });
  }
}
