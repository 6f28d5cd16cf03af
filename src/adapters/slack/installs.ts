import { randomBytes } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { type Installation, InstallProvider } from "@slack/oauth";
import { z } from "zod";
import type { SecretBox } from "../../core/basics/crypto.ts";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { keysOf } from "../../core/basics/keys-of.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { AppInstaller } from "../../core/ports/app-installer.ts";
import {
  type AppCredentials,
  type AppInstallations,
  type ConnectedWorkspace,
  credentialsOwner,
  type Installer,
  type UnconnectedWorkspace,
} from "../../core/ports/stores/app-installations.ts";
import { contentHash } from "../content-hash.ts";
import { ALL_BOT_SCOPES } from "./app-manifest.ts";
import { causeOf } from "./bolt-app.ts";
import { type ClientDeps, callSlack, clientOptions, createClient } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { plainName } from "./message-content.ts";
import type { WorkspaceAddress, WorkspaceTokens } from "./workspaces.ts";

const ADAPTER = "slack";
const STATE_BYTES = 32;
/** The library compares the state with this cookie. Here the state belongs to the person who is signed in. */
const STATE_COOKIE = "slack-app-oauth-state";

export interface InstallDeps extends ClientDeps {
  readonly installations: AppInstallations;
  readonly secrets: Pick<SecretBox, "open" | "seal">;
}

type OauthConfig = Pick<SlackConfig, "apiUrl"> & { readonly oauth: NonNullable<SlackConfig["oauth"]> };
type SlackInstallation = Installation<"v1" | "v2", boolean>;

const named = z.object({ id: z.string(), name: z.string().optional() }).transform((one) => defined(one));
/** What is stored of an installation. Tokens of users are not. */
const storedSchema = z.object({
  team: named.optional(),
  enterprise: named.optional(),
  isEnterpriseInstall: z.boolean().default(false),
  bot: z
    .object({
      token: z.string(),
      refreshToken: z.string().optional(),
      expiresAt: z.number().optional(),
      scopes: z.array(z.string()),
      id: z.string(),
      userId: z.string(),
    })
    .transform((bot) => defined(bot)),
});

/** An attempt to install the app, between Slack's page and the way back. */
interface Attempt {
  readonly by: Installer;
  readonly redirectUri: string;
}

/** The installations of the app that administrators made: https://docs.slack.dev/authentication/installing-with-oauth */
export class Installs implements WorkspaceTokens, AppInstaller {
  readonly adapter = ADAPTER;
  readonly title = "Slack";
  readonly #config: OauthConfig;
  readonly #deps: InstallDeps;
  readonly #tokens: InstallProvider;

  constructor(config: OauthConfig, deps: InstallDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#tokens = this.#provider();
  }

  isAny(): Promise<boolean> {
    return this.#deps.installations.isAny(ADAPTER);
  }

  async tokenOf({ enterpriseId, teamId }: WorkspaceAddress): Promise<string | undefined> {
    const { installations } = this.#deps;
    const ids = [teamId, enterpriseId].filter((id) => id !== undefined);
    const found = await installations.find(ADAPTER, ids);
    if (found === undefined) {
      return undefined;
    }
    if (found.externalId === enterpriseId) {
      await installations.cover(ADAPTER, teamId, enterpriseId);
    }
    try {
      const query = { teamId, enterpriseId, isEnterpriseInstall: false };
      return (await this.#tokens.authorize(query)).botToken;
    } catch (error) {
      throw causeOf(error);
    }
  }

  async remove(externalId: string, from: string): Promise<void> {
    const { installations, secrets } = this.#deps;
    if (externalId !== from) {
      return installations.uncover(ADAPTER, externalId, from);
    }
    const found = await installations.find(ADAPTER, [externalId]);
    if (found?.externalId !== externalId) {
      return;
    }
    const { bot } = readStored(secrets, found);
    const client = createClient({ ...this.#config, botToken: bot.token }, this.#deps);
    const isRefused = await callSlack("auth.test", client.auth.test()).then(
      () => false,
      (error: unknown) => {
        if (!isTokenRefused(error)) {
          throw error;
        }
        return true;
      },
    );
    // Otherwise the app was installed again before this event was read.
    if (isRefused) {
      await installations.disconnect(ADAPTER, externalId);
    }
  }

  listConnected(): Promise<readonly ConnectedWorkspace[]> {
    return this.#deps.installations.listConnected(ADAPTER);
  }

  listUnconnected(): Promise<readonly UnconnectedWorkspace[]> {
    return this.#deps.installations.listUnconnected(ADAPTER);
  }

  begin(by: Installer, redirectUri: string): Promise<string> {
    const scopes = keysOf(ALL_BOT_SCOPES);
    return this.#provider({ by, redirectUri }).generateInstallUrl({ scopes, redirectUri });
  }

  async finish(callback: URL, by: Installer): Promise<string> {
    const redirectUri = new URL(callback.pathname, callback).href;
    const request = new IncomingMessage(new Socket());
    request.url = `${callback.pathname}${callback.search}`;
    request.headers.cookie = `${STATE_COOKIE}=${callback.searchParams.get("state") ?? ""}`;
    return new Promise((resolve, reject) => {
      this.#provider({ by, redirectUri })
        .handleCallback(request, new ServerResponse(request), {
          success: ({ enterprise, team }) => resolve(plainName((team ?? enterprise)?.name ?? "") || "Slack"),
          failure: (error) => reject(error instanceof AppError ? error : notCompleted(error)),
        })
        .catch(reject);
    });
  }

  /** With an attempt, it stores a new installation; otherwise, only the tokens that replace those of a known one. */
  #provider(attempt?: Attempt): InstallProvider {
    const { apiUrl, oauth } = this.#config;
    const { logger, ...client } = clientOptions(this.#config, this.#deps);
    return new InstallProvider({
      ...oauth,
      logger,
      clientOptions: client,
      authorizationUrl: new URL("/oauth/v2/authorize", apiUrl).href,
      stateStore: {
        generateStateParam: () => this.#newState(attempt),
        verifyStateParam: (_now, state) => this.#takeState(state, attempt),
      },
      installationStore: {
        storeInstallation: (installation) => this.#store(installation, attempt),
        fetchInstallation: (query) => this.#fetch(query),
      },
    });
  }

  async #newState(attempt: Attempt | undefined): Promise<string> {
    const state = randomBytes(STATE_BYTES).toString("base64url");
    if (attempt !== undefined) {
      const stateHash = contentHash({ body: state });
      await this.#deps.installations.begin({ ...attempt.by, adapter: ADAPTER, stateHash });
    }
    return state;
  }

  /** A state is used once, by the person who began, so that nobody installs a workspace for another team. */
  async #takeState(state: string, attempt: Attempt | undefined) {
    const known = await this.#deps.installations.take(ADAPTER, contentHash({ body: state }));
    const { by, redirectUri } = attempt ?? {};
    if (known === undefined || known.principalId !== by?.principalId || known.teamId !== by.teamId) {
      throw notCompleted();
    }
    return { scopes: keysOf(ALL_BOT_SCOPES), ...(redirectUri === undefined ? {} : { redirectUri }) };
  }

  async #store(installation: SlackInstallation, attempt: Attempt | undefined): Promise<void> {
    const { installations, secrets } = this.#deps;
    const stored = storedSchema.parse(installation);
    const place = stored.isEnterpriseInstall ? stored.enterprise : stored.team;
    if (place === undefined) {
      throw notCompleted();
    }
    const key = { adapter: ADAPTER, externalId: place.id };
    const sealed = secrets.seal(JSON.stringify(stored), credentialsOwner(key));
    const credentials = { ...key, name: plainName(place.name ?? ""), sealed };
    if (attempt === undefined) {
      return installations.renew(credentials);
    }
    if (!(await installations.connect(credentials, attempt.by.teamId))) {
      throw new AppError("not_authorized", "This workspace belongs to another team of this server.", {
        retryable: false,
        remedy: "Ask an operator of the server to assign it to your team.",
      });
    }
  }

  async #fetch(query: object): Promise<SlackInstallation> {
    const { enterpriseId, teamId } = z
      .object({ teamId: z.string().optional(), enterpriseId: z.string().optional() })
      .parse(query);
    const ids = [teamId, enterpriseId].filter((id) => id !== undefined);
    const found = await this.#deps.installations.find(ADAPTER, ids);
    if (found === undefined) {
      throw new Error("The installation is gone.");
    }
    const { bot, enterprise, isEnterpriseInstall, team } = readStored(this.#deps.secrets, found);
    const user = { id: "", token: undefined, scopes: undefined };
    return { bot, enterprise, isEnterpriseInstall, team, user, authVersion: "v2" } as const;
  }
}

function readStored(secrets: Pick<SecretBox, "open">, found: AppCredentials) {
  return storedSchema.parse(parseJson(secrets.open(found.sealed, credentialsOwner(found))));
}

function isTokenRefused(error: unknown): boolean {
  return error instanceof AppError && error.code === "external_authentication_required";
}

function notCompleted(cause?: unknown): AppError {
  const message = "The installation was not completed, or it took too long. Try again.";
  return new AppError("authentication_required", message, { retryable: false, cause });
}
