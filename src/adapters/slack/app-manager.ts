import { isDeepStrictEqual } from "node:util";
import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { AppManager, ConfigurationTokens, ManagedApp } from "../../core/ports/app-manager.ts";
import { type Check, ok, warn } from "../../core/ports/check.ts";
import type { AdapterSettings } from "../../core/ports/stores/adapter-settings.ts";
import { contentHash } from "../content-hash.ts";
import { appManifest, isHttps } from "./app-manifest.ts";
import { type ClientDeps, callSlack, createClient } from "./client.ts";
import { APP_ID, readSlackConfig } from "./config.ts";
import { slackCodeOf } from "./errors.ts";
import { mergeManifest } from "./merge-manifest.ts";

/** Settings that are no variables: only the pages use them. */
const TOKEN = "SLACK_CONFIGURATION_TOKEN";
const REFRESH_TOKEN = "SLACK_CONFIGURATION_REFRESH_TOKEN";
const MANIFEST = "SLACK_APP_MANIFEST";

const EXPIRED: ReadonlySet<string | undefined> = new Set(["token_expired", "invalid_auth", "token_revoked"]);
const PROBLEMS_MAX = 5;

const createdAnswer = z.object({
  app_id: z.string(),
  credentials: z.object({ client_id: z.string(), client_secret: z.string(), signing_secret: z.string() }),
});
const exportedAnswer = z.object({ manifest: z.record(z.string(), z.unknown()) });
const updatedAnswer = z.object({ permissions_updated: z.boolean().default(false) });
const rotatedAnswer = z.object({ token: z.string(), refresh_token: z.string() });
const refusalAnswer = z.object({ errors: z.array(z.object({ message: z.string() })).default([]) });

type Settings = Readonly<Record<string, string>>;

export interface ManagerDeps extends ClientDeps {
  readonly apiUrl: string;
  /** The variables and stored settings of this server. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly publicUrl: () => string;
}

/** Creates the app by a configuration token: https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests */
export class SlackAppManager implements AppManager {
  readonly adapter = "slack";
  readonly #deps: ManagerDeps;

  constructor(deps: ManagerDeps) {
    this.#deps = deps;
  }

  async apply(
    stored: Settings,
    store: (settings: Settings) => Promise<void>,
    tokens?: ConfigurationTokens,
  ): Promise<ManagedApp> {
    const { env, publicUrl } = this.#deps;
    if (!isHttps(publicUrl())) {
      throw refused(
        `Slack sends events only to an https address, and that of this server is ${publicUrl()}.`,
        "Set ERRAND_PUBLIC_URL to a public address, or use Socket Mode by the steps of this page: its token cannot be created by a program.",
      );
    }
    const { config, problems } = readSlackConfig(env);
    if (stored[APP_ID] === undefined && (config !== undefined || problems.length > 0)) {
      throw refused(
        "This server has a Slack app already. Nothing was changed.",
        "To use another one, remove the variables that begin with SLACK first.",
      );
    }
    const session = new Session(this.#deps, store, tokensOf(stored, tokens));
    await session.keep();
    const appId = stored[APP_ID];
    return appId === undefined ? this.#create(session, store) : this.#update(session, store, appId);
  }

  async #create(session: Session, store: (settings: Settings) => Promise<void>): Promise<ManagedApp> {
    const manifest = appManifest(this.#deps.publicUrl(), "http");
    const answer = await session.call("apps.manifest.create", (client, method) =>
      client.apiCall(method, { manifest }),
    );
    const { app_id: appId, credentials } = read(createdAnswer, answer);
    await store({
      [APP_ID]: appId,
      [MANIFEST]: hashOf(this.#deps.publicUrl()),
      SLACK_SIGNING_SECRET: credentials.signing_secret,
      SLACK_CLIENT_ID: credentials.client_id,
      SLACK_CLIENT_SECRET: credentials.client_secret,
    });
    return { appId, change: "created", needsInstall: true };
  }

  async #update(
    session: Session,
    store: (settings: Settings) => Promise<void>,
    appId: string,
  ): Promise<ManagedApp> {
    const exported = await session.call("apps.manifest.export", (client, method) =>
      client.apiCall(method, { app_id: appId }),
    );
    const { manifest: present } = read(exportedAnswer, exported);
    const manifest = mergeManifest(present, appManifest(this.#deps.publicUrl(), "http"));
    const isSame = isDeepStrictEqual(manifest, present);
    const updated = isSame
      ? {}
      : await session.call("apps.manifest.update", (client, method) =>
          client.apiCall(method, { app_id: appId, manifest }),
        );
    await store({ [MANIFEST]: hashOf(this.#deps.publicUrl()) });
    const { permissions_updated: needsInstall } = read(updatedAnswer, updated);
    return { appId, change: isSame ? "unchanged" : "updated", needsInstall };
  }
}

/** Calls with a configuration token, which lasts twelve hours. One that has expired is replaced, once. */
class Session {
  readonly #deps: ManagerDeps;
  readonly #store: (settings: Settings) => Promise<void>;
  #tokens: ConfigurationTokens;
  #isRotated = false;

  constructor(deps: ManagerDeps, store: (settings: Settings) => Promise<void>, tokens: ConfigurationTokens) {
    this.#deps = deps;
    this.#store = store;
    this.#tokens = tokens;
  }

  keep(): Promise<void> {
    return this.#store({ [TOKEN]: this.#tokens.token, [REFRESH_TOKEN]: this.#tokens.refreshToken });
  }

  async call(
    method: string,
    send: (client: WebClient, method: string) => Promise<unknown>,
  ): Promise<unknown> {
    try {
      return await this.#send(method, send);
    } catch (error) {
      if (this.#isRotated || !EXPIRED.has(slackCodeOf(error))) {
        throw inWords(error);
      }
    }
    await this.#rotate();
    return this.#send(method, send).catch((error: unknown) => {
      throw inWords(error);
    });
  }

  #send(method: string, send: (client: WebClient, method: string) => Promise<unknown>): Promise<unknown> {
    const client = createClient({ ...this.#deps, botToken: this.#tokens.token }, this.#deps);
    return callSlack(method, send(client, method));
  }

  /** A refresh token is good once, so that the new one is stored before anything else is done. */
  async #rotate(): Promise<void> {
    const client = createClient(this.#deps, this.#deps);
    const method = "tooling.tokens.rotate";
    const refresh_token = this.#tokens.refreshToken;
    const answer = await callSlack(method, client.apiCall(method, { refresh_token })).catch(
      (error: unknown) => {
        throw slackCodeOf(error) === undefined ? inWords(error) : tokenRefused();
      },
    );
    const { refresh_token: refreshToken, token } = read(rotatedAnswer, answer);
    this.#tokens = { token, refreshToken };
    this.#isRotated = true;
    await this.keep();
  }
}

/** Whether the app that this server created has what this version needs at its present address. */
export function manifestCheck(settings: Pick<AdapterSettings, "read">, publicUrl: () => string): Check {
  return {
    name: "slack_manifest",
    run: async () =>
      (await settings.read("slack"))[MANIFEST] === hashOf(publicUrl())
        ? ok("The app has the manifest of this version.")
        : warn(
            "The app was created for another version or address of this server.",
            "Press Update the app on the page Set up → Slack.",
          ),
  };
}

function hashOf(publicUrl: string): string {
  return contentHash({ body: JSON.stringify(appManifest(publicUrl, "http")) });
}

function tokensOf(stored: Settings, tokens: ConfigurationTokens | undefined): ConfigurationTokens {
  const { [REFRESH_TOKEN]: refreshToken, [TOKEN]: token } = stored;
  const known = token && refreshToken ? { token, refreshToken } : undefined;
  const used = tokens ?? known;
  if (used === undefined) {
    throw tokenRefused();
  }
  return used;
}

function tokenRefused(): AppError {
  return refused(
    "Slack does not accept the configuration token and its refresh token.",
    "Generate a new pair under Your App Configuration Tokens on api.slack.com/apps, and paste both.",
  );
}

function inWords(error: unknown): AppError {
  const code = slackCodeOf(error);
  if (code === "invalid_manifest") {
    return refused(
      `Slack refuses the manifest: ${problemsIn(error)}`,
      "Correct this in the app's manifest on api.slack.com/apps, then update the app again.",
    );
  }
  if (EXPIRED.has(code)) {
    return tokenRefused();
  }
  if (error instanceof AppError) {
    const { message, retryable } = error;
    const retryAfterMs = error.options.retryAfterMs;
    return new AppError(error.code, message, { retryable, ...defined({ retryAfterMs }) });
  }
  throw error;
}

function problemsIn(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : undefined;
  const data = cause instanceof WebAPIPlatformError ? cause.data : {};
  const { errors } = refusalAnswer.parse(data);
  return errors
    .slice(0, PROBLEMS_MAX)
    .map(({ message }) => message)
    .join("; ");
}

/** The answers contain secrets, so that no error shows them. */
function read<Value>(schema: z.ZodType<Value>, answer: unknown): Value {
  const { data, success } = schema.safeParse(answer);
  if (!success) {
    throw new AppError("resource_unavailable", "Slack's answer could not be read.");
  }
  return data;
}

function refused(message: string, remedy: string): AppError {
  return new AppError("invalid_request", message, { retryable: false, remedy });
}
