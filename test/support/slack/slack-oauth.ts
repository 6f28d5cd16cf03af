import { randomBytes } from "node:crypto";
import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import type { JsonRecord } from "../json.ts";
import { OauthCodes } from "../oauth-codes.ts";
import type { SlackApp, SlackWorkspace } from "./slack-workspace.ts";

/** Where the app is installed: in a workspace, or in an organization with all of its workspaces. */
export interface InstallPlace {
  readonly workspace: SlackWorkspace;
  readonly organization?: { readonly id: string; readonly name: string };
}

/** Slack's page that installs apps, and `oauth.v2.access`: https://docs.slack.dev/reference/methods/oauth.v2.access */
export class SlackOauth {
  /** `next` is where the person at the page installs the app. */
  readonly codes: OauthCodes<InstallPlace>;
  /** How long tokens are good for, in an app with token rotation. Undefined: they do not end. */
  tokenSeconds: number | undefined;
  readonly #app: SlackApp;
  readonly #places = new Map<string, InstallPlace>();

  constructor(app: SlackApp) {
    this.#app = app;
    this.codes = new OauthCodes(app);
  }

  /** Undefined: the request is for another method. */
  answer({ body, path, search }: FrontRequest): FrontAnswer | undefined {
    if (path === "/oauth/v2/authorize") {
      return this.codes.authorize(search);
    }
    if (path !== "/api/oauth.v2.access") {
      return undefined;
    }
    const form = new URLSearchParams(body.toString());
    if (form.get("client_id") !== this.#app.clientId) {
      return jsonAnswer(200, { ok: false, error: "invalid_client_id" });
    }
    return form.get("grant_type") === "refresh_token"
      ? this.#refresh(form.get("refresh_token") ?? "")
      : this.#grant(body.toString());
  }

  #grant(body: string): FrontAnswer {
    const place = this.codes.redeem(body)?.account;
    return place === undefined
      ? jsonAnswer(200, { ok: false, error: "invalid_code" })
      : jsonAnswer(200, { ...this.#tokenOf(place), authed_user: { id: "U0INSTALLER" } });
  }

  /** Each refresh token is good once. */
  #refresh(token: string): FrontAnswer {
    const place = this.#places.get(token);
    this.#places.delete(token);
    return place === undefined
      ? jsonAnswer(200, { ok: false, error: "invalid_refresh_token" })
      : jsonAnswer(200, this.#tokenOf(place));
  }

  #tokenOf(place: InstallPlace): JsonRecord {
    const { organization, workspace } = place;
    const { botUserId, domain: name, teamId } = workspace;
    const common = {
      ok: true,
      app_id: this.#app.appId,
      token_type: "bot",
      scope: workspace.scopes.join(","),
      bot_user_id: botUserId,
      team: organization === undefined ? { id: teamId, name } : null,
      enterprise: organization ?? null,
      is_enterprise_install: organization !== undefined,
    };
    if (this.tokenSeconds === undefined) {
      return { ...common, access_token: workspace.botToken };
    }
    const refresh = `xoxe-1-${randomBytes(8).toString("hex")}`;
    this.#places.set(refresh, place);
    return {
      ...common,
      access_token: workspace.renewBotToken(),
      refresh_token: refresh,
      expires_in: this.tokenSeconds,
    };
  }
}
