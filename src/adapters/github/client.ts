import { App } from "@octokit/app";
import { Octokit } from "@octokit/core";
import type { z } from "zod";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { GithubConfig } from "./config.ts";
import { movedError, toAppError } from "./errors.ts";

const REQUEST_TIMEOUT_MS = 10_000;

export interface GithubClientDeps {
  readonly log: Log;
  readonly fetch?: typeof globalThis.fetch;
}

type Parameters = Readonly<Record<string, unknown>>;

export interface GithubCall<Value> {
  /** As in GitHub's documentation: `GET /repositories/{id}`. */
  readonly route: string;
  readonly parameters?: Parameters;
  readonly answer: z.ZodType<Value>;
}

interface Answer<Value> {
  readonly value: Value;
  /** The number of the last page of a list. */
  readonly lastPage: number;
}

/**
 * GitHub's REST API as the App. Each call is tried once, because posting a comment is not idempotent. Only the outbox
 * tries again, after it looked for the comment of the earlier try.
 */
export class GithubClient {
  readonly #app: App;

  constructor(config: GithubConfig, deps: GithubClientDeps) {
    const { appId, privateKey, apiUrl } = config;
    this.#app = new App({ appId, privateKey, Octokit: octokitFor(apiUrl, deps), log: quietLog(deps.log) });
  }

  /** As the App itself; only for `/app` routes. */
  async asApp<Value>(call: GithubCall<Value>): Promise<Value> {
    return (await send(() => Promise.resolve(this.#app.octokit), call)).value;
  }

  async call<Value>(installation: string, call: GithubCall<Value>): Promise<Value> {
    return (await this.list(installation, call)).value;
  }

  async list<Value>(installation: string, call: GithubCall<Value>): Promise<Answer<Value>> {
    return send(() => this.#app.getInstallationOctokit(Number(installation)), call);
  }

  /** The address to which GitHub redirects this call. It is signed: for a minute it needs no token. */
  async locationOf(
    installation: string,
    { parameters = {}, route }: Omit<GithubCall<unknown>, "answer">,
  ): Promise<string> {
    try {
      const octokit = await this.#app.getInstallationOctokit(Number(installation));
      const { headers, status } = await octokit.request(route, parameters);
      if (status !== 302 || headers.location === undefined) {
        throw movedError(status, route);
      }
      return headers.location;
    } catch (error) {
      throw toAppError(error, route);
    }
  }
}

/** GitHub's REST API with the token of a team, without the App. */
export class GithubTokenClient {
  readonly #octokit: Octokit;

  constructor(apiUrl: string, token: string, deps: GithubClientDeps) {
    this.#octokit = new (octokitFor(apiUrl, deps))({ auth: token });
  }

  async call<Value>(call: GithubCall<Value>): Promise<Value> {
    return (await send(() => Promise.resolve(this.#octokit), call)).value;
  }
}

function octokitFor(baseUrl: string, deps: GithubClientDeps): typeof Octokit {
  const log = quietLog(deps.log);
  const request = { fetch: boundedFetch(deps.fetch ?? globalThis.fetch), log, redirect: "manual" as const };
  return Octokit.defaults({ baseUrl, userAgent: "errand", log, request });
}

async function send<Value>(octokit: () => Promise<Octokit>, call: GithubCall<Value>): Promise<Answer<Value>> {
  const { route, parameters = {}, answer } = call;
  try {
    const response = await (await octokit()).request(route, parameters);
    if (response.status >= 300) {
      throw movedError(response.status, route);
    }
    const read = answer.safeParse(response.data);
    if (!read.success) {
      throw unreadable(route, read.error);
    }
    return { value: read.data, lastPage: lastPageOf(response.headers.link ?? "", parameters) };
  } catch (error) {
    throw toAppError(error, route);
  }
}

/** The `Link` header of the last page names no last page. */
function lastPageOf(link: string, { page = 1 }: Parameters): number {
  const last = /[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link)?.[1];
  return Number(last ?? page);
}

/** Octokit returns a truncated body as an empty success, so each answer is checked. */
function unreadable(route: string, cause: unknown): AppError {
  return new AppError("resource_unavailable", `GitHub's answer to ${route} could not be read.`, { cause });
}

/** Octokit has no timeout; a silent connection would hold the delivery forever. */
function boundedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
}

/** Octokit writes to the console unless it gets a log. */
function quietLog(log: Log) {
  return {
    debug: () => {},
    info: () => {},
    warn: (detail: unknown) => log.warn("github.client.warning", { detail: String(detail) }),
    error: (detail: unknown) => log.warn("github.client.error", { detail: String(detail) }),
  };
}
