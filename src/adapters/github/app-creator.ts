import { randomBytes } from "node:crypto";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import type { AppCreator, CreatedApp } from "../../core/ports/app-creator.ts";
import type { AppInstallations, Installer } from "../../core/ports/stores/app-installations.ts";
import { contentHash } from "../content-hash.ts";
import { APP_EVENTS, APP_PERMISSIONS, appManifest, hookObstacle } from "./app-settings.ts";
import { GithubTokenClient } from "./client.ts";
import { DEFAULT_API_URL, readGithubConfig, webUrlOf } from "./config.ts";

const ADAPTER = "github";
const STATE_BYTES = 32;
const ORGANIZATION = /^[A-Za-z\d][A-Za-z\d-]{0,99}$/;

const conversionAnswer = z.object({
  id: z.int(),
  name: z.string(),
  html_url: z.url(),
  pem: z.string(),
  webhook_secret: z.string().nullable(),
  client_id: z.string(),
  client_secret: z.string(),
  permissions: z.record(z.string(), z.string()),
  events: z.array(z.string()),
});
type Conversion = z.output<typeof conversionAnswer>;

export interface CreatorDeps {
  readonly installations: Pick<AppInstallations, "begin" | "take">;
  readonly publicUrl: () => string;
  /** The variables and stored settings of this server. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The API that is used unless the operator names a server. */
  readonly apiUrl: string;
  /** Reaches only public addresses, and those that the operator of the server allows. */
  readonly guardedFetch: typeof globalThis.fetch;
  readonly log: Log;
}

/** Creates an App by a manifest: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
export class GithubAppCreator implements AppCreator {
  readonly adapter = ADAPTER;
  readonly title = "GitHub";
  readonly #deps: CreatorDeps;

  constructor(deps: CreatorDeps) {
    this.#deps = deps;
  }

  async begin(by: Installer, choices: Readonly<Record<string, string>>, callbackUrl: string) {
    const { installations, publicUrl } = this.#deps;
    const apiUrl = apiUrlOf(choices.server?.trim() ?? "") ?? this.#deps.apiUrl;
    const organization = choices.organization?.trim() ?? "";
    this.#requireNone();
    if (organization !== "" && !ORGANIZATION.test(organization)) {
      throw refused(
        "The organization must be the name in its address on GitHub: letters, digits and hyphens.",
      );
    }
    const obstacle = hookObstacle(publicUrl(), apiUrl);
    if (obstacle !== undefined) {
      throw refused(obstacle);
    }
    const state = `${randomBytes(STATE_BYTES).toString("base64url")}.${Buffer.from(apiUrl).toString("base64url")}`;
    await installations.begin({ ...by, adapter: ADAPTER, stateHash: contentHash({ body: state }) });
    const owner = organization === "" ? "" : `/organizations/${organization}`;
    const url = new URL(`${owner}/settings/apps/new`, webUrlOf(apiUrl));
    url.searchParams.set("state", state);
    const manifest = { ...appManifest(publicUrl()), redirect_url: callbackUrl };
    return { url, fields: { manifest: JSON.stringify(manifest) } };
  }

  async finish({ searchParams }: URL, by: Installer): Promise<CreatedApp> {
    const apiUrl = await this.#takeState(searchParams.get("state") ?? "", by);
    this.#requireNone();
    const app = await this.#convert(apiUrl, searchParams.get("code") ?? "");
    requireNoMore(app);
    if (app.webhook_secret === null) {
      throw refused(
        "GitHub gave the new App no webhook secret. Delete the App on GitHub and create it again.",
      );
    }
    const web = webUrlOf(apiUrl);
    const page = new URL(app.html_url);
    return {
      name: app.name,
      settings: defined({
        GITHUB_APP_ID: String(app.id),
        GITHUB_APP_PRIVATE_KEY: app.pem,
        GITHUB_WEBHOOK_SECRET: app.webhook_secret,
        GITHUB_CLIENT_ID: app.client_id,
        GITHUB_CLIENT_SECRET: app.client_secret,
        GITHUB_API_URL: apiUrl === DEFAULT_API_URL ? undefined : apiUrl,
      }),
      installUrl: page.origin === web.origin ? new URL(`${page.pathname}/installations/new`, web) : web,
    };
  }

  /** Nothing is changed for an App that exists. */
  #requireNone(): void {
    const { config, problems } = readGithubConfig(this.#deps.env);
    if (config !== undefined || problems.length > 0) {
      const which = config === undefined ? "" : `: App ${config.appId}`;
      throw refused(
        `This server has an App already${which}. Nothing was changed.`,
        "To use another one, remove the variables that begin with GITHUB_APP, or the stored settings on this page, first.",
      );
    }
  }

  /** A state is good once, for the operator who began. It has the address that the operator chose. */
  async #takeState(state: string, by: Installer): Promise<string> {
    const known = await this.#deps.installations.take(ADAPTER, contentHash({ body: state }));
    if (known?.principalId !== by.principalId || known.teamId !== by.teamId) {
      throw refused(
        "This attempt is not known, was completed before, or took longer than ten minutes.",
        "Begin again. If GitHub has created an App meanwhile, delete it there first.",
      );
    }
    return Buffer.from(state.split(".")[1] ?? "", "base64url").toString();
  }

  async #convert(apiUrl: string, code: string): Promise<Conversion> {
    const { guardedFetch: fetch, log } = this.#deps;
    // The operator of the server chose the address of its variables.
    const isOwn = apiUrl === this.#deps.apiUrl;
    const client = new GithubTokenClient(apiUrl, undefined, isOwn ? { log } : { log, fetch });
    try {
      const route = "POST /app-manifests/{code}/conversions";
      return await client.call({ route, parameters: { code }, answer: conversionAnswer });
    } catch (error) {
      this.#deps.log.warn("github.app.not_created", {
        reason: error instanceof AppError ? error.message : String(error),
      });
      const isRefusal = error instanceof AppError && !error.retryable && error.options.said !== undefined;
      throw isRefusal ? codeRefused(error) : unanswered(apiUrl, error);
    }
  }
}

/** The API of an Enterprise Server whose pages are at this address. Undefined: GitHub itself. */
function apiUrlOf(server: string): string | undefined {
  if (server === "") {
    return undefined;
  }
  const url = URL.parse(server.includes("://") ? server : `https://${server}`);
  const isAddress =
    url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!isAddress || !/^\/?$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    throw refused("The address of the Enterprise Server must be like https://github.example.com.");
  }
  if (url.hostname === "github.com") {
    return DEFAULT_API_URL;
  }
  return url.hostname.endsWith(".ghe.com") ? `https://api.${url.host}` : `${url.origin}/api/v3`;
}

/** `write` includes `read`. */
function requireNoMore({ events, name, permissions }: Conversion): void {
  const more = Object.entries(permissions)
    .filter(([permission, access]) => {
      const asked = APP_PERMISSIONS[permission]?.access;
      return asked === undefined || (access !== asked && access !== "read");
    })
    .map(([permission, access]) => `the permission ${permission}: ${access}`);
  const unknown = events.filter((event) => !APP_EVENTS.some((asked) => asked === event));
  const all = [...more, ...unknown.map((event) => `the event ${event}`)];
  if (all.length > 0) {
    throw refused(
      `The App ${name} has more than Errand asks for: ${all.join(", ")}. Its keys were not stored.`,
      "Delete the App on GitHub and create it again.",
    );
  }
}

function refused(message: string, remedy?: string): AppError {
  return new AppError("invalid_request", message, { retryable: false, ...defined({ remedy }) });
}

function codeRefused(cause: AppError): AppError {
  const message =
    "GitHub did not give the keys of the new App: its code is unknown, was used, or is older than an hour.";
  const remedy = "Delete the App on GitHub if it is there, and create it again.";
  return new AppError("invalid_request", message, { retryable: false, cause, remedy });
}

function unanswered(apiUrl: string, cause: unknown): AppError {
  const message = `${new URL(apiUrl).origin} does not answer as a GitHub server.`;
  const remedy =
    "Check the address and create the App again. A server in a private network must be listed in ERRAND_WEBHOOK_ALLOW, or named by the variable GITHUB_API_URL.";
  return new AppError("resource_unavailable", message, { retryable: false, cause, remedy });
}
