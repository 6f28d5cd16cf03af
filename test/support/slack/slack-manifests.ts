import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type FrontAnswer, type FrontRequest, jsonAnswer } from "../front-server.ts";
import type { JsonRecord } from "../json.ts";
import { readManifest } from "./slack-manifest.ts";
import type { SlackApp } from "./slack-workspace.ts";

interface Tokens {
  readonly token: string;
  readonly refreshToken: string;
}

const METHOD = /^\/api\/(apps\.manifest\.(?:create|export|update)|tooling\.tokens\.rotate)$/;

/** Methods of app configuration tokens: https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests */
export class SlackManifests {
  /** The pair that Slack shows on its page, and its replacements. A refresh token is good once. */
  tokens: Tokens = newTokens();
  /** The manifest of the app that was created. */
  manifest: JsonRecord | undefined;
  /** The calls, without their tokens. */
  readonly calls: string[] = [];
  /** The refusal of the next call. */
  refusal: "ratelimited" | "internal_error" | undefined;
  readonly #app: SlackApp;
  readonly #install: (manifest: JsonRecord) => void;
  readonly #expired = new Set<string>();

  constructor(app: SlackApp, install: (manifest: JsonRecord) => void) {
    this.#app = app;
    this.#install = install;
  }

  /** Twelve hours pass. */
  expire(): void {
    this.#expired.add(this.tokens.token);
  }

  /** Undefined: the request is for another method. */
  answer(request: FrontRequest): FrontAnswer | undefined {
    const method = METHOD.exec(request.path)?.[1];
    if (method === undefined) {
      return undefined;
    }
    this.calls.push(method);
    const form = new URLSearchParams(request.body.toString());
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal === "ratelimited") {
      return jsonAnswer(429, { ok: false, error: refusal }, { "retry-after": "30" });
    }
    if (refusal !== undefined) {
      return refused(refusal);
    }
    if (method === "tooling.tokens.rotate") {
      return this.#rotate(form.get("refresh_token"));
    }
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    if (this.#expired.has(token)) {
      return refused("token_expired");
    }
    return token === this.tokens.token ? this.#manage(method, form) : refused("invalid_auth");
  }

  #rotate(refreshToken: string | null): FrontAnswer {
    if (refreshToken !== this.tokens.refreshToken) {
      return refused("invalid_refresh_token");
    }
    this.tokens = newTokens();
    const { token, refreshToken: refresh_token } = this.tokens;
    return jsonAnswer(200, { ok: true, token, refresh_token, team_id: "T0MAIN001", user_id: "U1" });
  }

  #manage(method: string, form: URLSearchParams): FrontAnswer {
    const { appId, clientId, clientSecret, signingSecret } = this.#app;
    if (method !== "apps.manifest.create" && (form.get("app_id") !== appId || this.manifest === undefined)) {
      return refused("invalid_app_id");
    }
    if (method === "apps.manifest.export") {
      return jsonAnswer(200, { ok: true, manifest: this.manifest });
    }
    const manifest: JsonRecord = JSON.parse(form.get("manifest") ?? "{}");
    try {
      readManifest(manifest);
    } catch (error) {
      return jsonAnswer(200, { ok: false, error: "invalid_manifest", errors: errorsOf(error) });
    }
    const hasOtherScopes = scopesOf(manifest) !== scopesOf(this.manifest);
    this.manifest = manifest;
    this.#install(manifest);
    if (method === "apps.manifest.update") {
      return jsonAnswer(200, { ok: true, app_id: appId, permissions_updated: hasOtherScopes });
    }
    const credentials = {
      client_id: clientId,
      client_secret: clientSecret,
      signing_secret: signingSecret,
      verification_token: "deprecated",
    };
    const oauth_authorize_url = "https://slack.com/oauth/v2/authorize";
    return jsonAnswer(200, { ok: true, app_id: appId, credentials, oauth_authorize_url });
  }
}

function scopesOf(manifest: JsonRecord | undefined): string {
  return manifest === undefined ? "" : readManifest(manifest).scopes.join(" ");
}

function errorsOf(error: unknown): readonly JsonRecord[] {
  const { issues } = z.object({ issues: z.array(z.object({ message: z.string() })) }).parse(error);
  return issues.map(({ message }) => ({ message, pointer: "/" }));
}

function refused(error: string): FrontAnswer {
  return jsonAnswer(200, { ok: false, error });
}

function newTokens(): Tokens {
  return { token: `xoxe.xoxp-1-${randomUUID()}`, refreshToken: `xoxe-1-${randomUUID()}` };
}
