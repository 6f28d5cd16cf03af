import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError, type ErrorCode } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import type { GithubConfig } from "./config.ts";
import { MovedError, toAppError } from "./errors.ts";
import { InstallationTokens, type TokenScope } from "./installation-tokens.ts";
import { KnownAnswers, type Received } from "./known-answers.ts";
import type { GithubCall, Repository, RepositoryCall, RepositoryRoute, Route } from "./routes.ts";

const REQUEST_TIMEOUT_MS = 10_000;
/** A wrong time must not stop an installation for days. */
const WAIT_MAX_MS = 60 * 60_000;
/** The budget of GraphQL is not that of the other calls, which need not wait. Its answer names no time. */
const GRAPHQL_WAIT_MS = 60_000;

const tokenAnswer = z.object({ token: z.string(), permissions: z.record(z.string(), z.string()).optional() });
export const installationAnswer = z.object({ id: z.int() });

export interface GithubClientDeps {
  readonly log: Log;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

type Parameters = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

/** What an installation has granted, by the names of the API. */
type Permissions = Readonly<Record<string, string>>;

const graphqlAnswer = z.object({
  data: z.unknown(),
  errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).optional(),
});

/** What GitHub answers with 200 and these words, as codes. Anything else may pass. */
const GRAPHQL_ERRORS: ReadonlyMap<string, ErrorCode> = new Map([
  ["NOT_FOUND", "resource_not_found"],
  ["FORBIDDEN", "not_authorized"],
  ["UNPROCESSABLE", "invalid_request"],
]);

interface GraphqlCall<Value> {
  readonly query: string;
  readonly variables: Parameters;
  readonly answer: z.ZodType<Value>;
}

/** A call of any route with all its parameters. */
interface Call<Value> {
  readonly route: string;
  readonly parameters: Parameters;
  readonly answer: z.ZodType<Value>;
}

interface Answer<Value> {
  readonly value: Value;
  /** The number of the last page of a list. */
  readonly lastPage: number;
  /** For a list without numbers of pages. */
  readonly nextCursor?: string | undefined;
}

/** GitHub asked an installation to wait. */
interface Wait {
  readonly error: AppError;
  readonly untilMs: number;
}

/**
 * GitHub's REST API as the App. Each call is tried once, because posting a comment is not idempotent. Only the outbox
 * tries again, after it looked for the comment of the earlier try.
 */
export class GithubClient {
  readonly appId: number;
  readonly #app: Octokit;
  readonly #octokit: Octokit;
  readonly #graphqlRoute: string;
  readonly #known = new KnownAnswers();
  readonly #now: () => number;
  /** By installation, as its last token said. */
  readonly #permissions = new Map<string, Permissions>();
  readonly #tokens: InstallationTokens;
  readonly #waits = new Map<string, Wait>();

  constructor(config: GithubConfig, deps: GithubClientDeps) {
    const { appId, privateKey, apiUrl } = config;
    const BoundOctokit = octokitFor(apiUrl, deps);
    const auth = { appId, privateKey, log: quietLog(deps.log) };
    this.#app = new BoundOctokit({ authStrategy: createAppAuth, auth });
    this.#octokit = new BoundOctokit();
    this.appId = appId;
    // On an Enterprise Server it is beside the REST API.
    this.#graphqlRoute = apiUrl.endsWith("/api/v3")
      ? `POST ${apiUrl.slice(0, -"/v3".length)}/graphql`
      : "POST /graphql";
    this.#now = deps.now ?? Date.now;
    const create = this.#createToken.bind(this);
    this.#tokens = new InstallationTokens({ create, now: this.#now });
  }

  /** As the App itself; only for `/app` routes. */
  async asApp<R extends Route, Value>(call: GithubCall<R, Value>): Promise<Value> {
    return (await this.listAsApp(call)).value;
  }

  async listAsApp<R extends Route, Value>(call: GithubCall<R, Value>): Promise<Answer<Value>> {
    return send(this.#app, call);
  }

  /** The App's installation in a repository. Octokit authenticates as the App only where a route has names. */
  async installationIn(repositoryId: number): Promise<number> {
    const { token } = tokenAnswer.parse(await this.#app.auth({ type: "app" }));
    const call = {
      route: "GET /repositories/{id}/installation",
      parameters: { id: repositoryId },
      answer: installationAnswer,
    };
    return (await send(this.#octokit, call, { authorization: `bearer ${token}` })).value.id;
  }

  async call<R extends Route, Value>(installation: string, call: GithubCall<R, Value>): Promise<Value> {
    return (await this.#list(installation, call)).value;
  }

  async callIn<R extends RepositoryRoute, Value>(
    installation: string,
    repository: Repository,
    call: RepositoryCall<R, Value>,
  ): Promise<Value> {
    return (await this.listIn(installation, repository, call)).value;
  }

  listIn<R extends RepositoryRoute, Value>(
    installation: string,
    repository: Repository,
    call: RepositoryCall<R, Value>,
  ): Promise<Answer<Value>> {
    return this.#list(installation, within(repository, call));
  }

  /** For what only GraphQL offers. GitHub answers 200 also where it refuses. */
  async graphql<Value>(
    installation: string,
    { answer, query, variables }: GraphqlCall<Value>,
  ): Promise<Value> {
    const call = { route: this.#graphqlRoute, parameters: { query, variables }, answer: graphqlAnswer };
    const { data, errors: [error] = [] } = (await this.#list(installation, call)).value;
    if (error !== undefined) {
      const code = GRAPHQL_ERRORS.get(error.type ?? "");
      const wait = error.type === "RATE_LIMITED" ? { retryAfterMs: GRAPHQL_WAIT_MS } : {};
      throw new AppError(code ?? "resource_unavailable", `GitHub says: ${error.message}`, {
        retryable: code === undefined,
        ...wait,
      });
    }
    const read = answer.safeParse(data);
    if (!read.success) {
      throw unreadable("GraphQL", read.error);
    }
    return read.data;
  }

  #list<Value>(installation: string, call: Call<Value>): Promise<Answer<Value>> {
    return this.#withToken(installation, async (headers) => {
      const { parameters, route } = call;
      if (!route.startsWith("GET ")) {
        return send(this.#octokit, call, headers);
      }
      const name = JSON.stringify([installation, route, parameters]);
      const received = await receive(this.#octokit, call, headers, this.#known.get(name));
      this.#known.keep(name, received);
      return answerOf(call, received);
    });
  }

  /** The address to which GitHub redirects this call. It is signed: for a minute it needs no token. */
  locationOf<R extends RepositoryRoute>(
    installation: string,
    repository: Repository,
    call: Omit<RepositoryCall<R, unknown>, "answer">,
  ): Promise<string> {
    const located = within(repository, call);
    return this.#withToken(installation, (headers) => findLocation(this.#octokit, located, headers));
  }

  /** A token for some repositories of an installation. */
  tokenFor(installation: string, scope: TokenScope): Promise<string> {
    return this.#tokens.get(installation, scope);
  }

  /** What the installation has granted. A token says it, so no call is made for it. */
  async permissionsOf(installation: string): Promise<Permissions> {
    await this.#tokens.get(installation);
    return this.knownPermissions(installation) ?? {};
  }

  /** Undefined: no token has said it yet. */
  knownPermissions(installation: string): Permissions | undefined {
    return this.#permissions.get(installation);
  }

  /** The installation changed on GitHub: earlier refusals and tokens no longer apply. */
  forget(installation: string): void {
    this.#tokens.forget(installation);
    this.#permissions.delete(installation);
    this.#waits.delete(installation);
  }

  async #createToken(installation: string, scope?: TokenScope): Promise<string> {
    const route = "POST /app/installations/{installation_id}/access_tokens";
    const parameters = { installation_id: Number(installation), ...scope };
    const { permissions, token } = await this.asApp({ route, parameters, answer: tokenAnswer });
    if (scope === undefined && permissions !== undefined) {
      this.#permissions.set(installation, permissions);
    }
    return token;
  }

  async #withToken<T>(installation: string, ask: (headers: Headers) => Promise<T>): Promise<T> {
    const token = await this.#tokens.get(installation);
    try {
      return await this.#unlessWaiting(installation, () => ask(headersWith(token)));
    } catch (error) {
      if (!isUnauthorized(error)) {
        throw error;
      }
    }
    // The token was revoked, which happens when the App is suspended.
    this.#tokens.drop(installation);
    const next = await this.#tokens.get(installation);
    try {
      return await this.#unlessWaiting(installation, () => ask(headersWith(next)));
    } catch (error) {
      if (isUnauthorized(error)) {
        this.#tokens.pause(installation, error);
      }
      throw error;
    }
  }

  /** While GitHub asks an installation to wait, its calls fail without being sent. */
  async #unlessWaiting<T>(installation: string, ask: () => Promise<T>): Promise<T> {
    const { error: refusal, untilMs = 0 } = this.#waits.get(installation) ?? {};
    const restMs = untilMs - this.#now();
    if (refusal !== undefined && restMs > 0) {
      throw new AppError(refusal.code, refusal.message, { ...refusal.options, retryAfterMs: restMs });
    }
    try {
      return await ask();
    } catch (error) {
      if (error instanceof AppError && error.options.retryAfterMs !== undefined) {
        const waitMs = Math.min(WAIT_MAX_MS, error.options.retryAfterMs);
        this.#waits.set(installation, { error, untilMs: this.#now() + waitMs });
      }
      throw error;
    }
  }
}

/** GitHub's REST API with the token of a team, or without one, and without the App. */
export class GithubTokenClient {
  readonly #octokit: Octokit;

  constructor(apiUrl: string, token: string | undefined, deps: GithubClientDeps) {
    this.#octokit = new (octokitFor(apiUrl, deps))(defined({ auth: token }));
  }

  async call<R extends Route, Value>(call: GithubCall<R, Value>): Promise<Value> {
    return (await send(this.#octokit, call)).value;
  }

  async callIn<R extends RepositoryRoute, Value>(
    repository: Repository,
    call: RepositoryCall<R, Value>,
  ): Promise<Value> {
    return (await send(this.#octokit, within(repository, call))).value;
  }
}

function octokitFor(baseUrl: string, deps: GithubClientDeps): typeof Octokit {
  const log = quietLog(deps.log);
  const request = { fetch: boundedFetch(deps.fetch ?? globalThis.fetch), log, redirect: "manual" as const };
  return Octokit.defaults({ baseUrl, userAgent: "errand", log, request });
}

function within<More extends { readonly parameters: Parameters }>({ owner, repo }: Repository, call: More) {
  return { ...call, parameters: { owner, repo, ...call.parameters } };
}

async function send<Value>(
  octokit: Octokit,
  call: Call<Value>,
  headers: Headers = {},
): Promise<Answer<Value>> {
  return answerOf(call, await receive(octokit, call, headers));
}

/** `known`: an earlier answer to the same call. GitHub does not count the call if that is still the same. */
async function receive(
  octokit: Octokit,
  { parameters, route }: Omit<Call<unknown>, "answer">,
  requestHeaders: Headers,
  known?: Received,
): Promise<Received> {
  const condition = known?.etag === undefined ? {} : { "if-none-match": known.etag };
  try {
    const request = { ...parameters, headers: { ...requestHeaders, ...condition } };
    const { data, headers, status } = await octokit.request(route, request);
    if (status >= 300) {
      throw new MovedError(status, route, headers.location);
    }
    return { data, link: headers.link ?? "", etag: headers.etag };
  } catch (error) {
    if (known !== undefined && isNotModified(error)) {
      return known;
    }
    throw toAppError(error, route);
  }
}

function answerOf<Value>(
  { answer, parameters, route }: Call<Value>,
  { data, link }: Received,
): Answer<Value> {
  const read = answer.safeParse(data);
  if (!read.success) {
    throw unreadable(route, read.error);
  }
  return { value: read.data, lastPage: lastPageOf(link, parameters), nextCursor: nextCursorOf(link) };
}

/** Octokit throws it as an error. */
function isNotModified(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 304;
}

async function findLocation(
  octokit: Octokit,
  { parameters, route }: Omit<Call<unknown>, "answer">,
  requestHeaders: Headers,
): Promise<string> {
  try {
    const { headers, status } = await octokit.request(route, { ...parameters, headers: requestHeaders });
    if (status !== 302 || headers.location === undefined) {
      throw new MovedError(status, route);
    }
    return headers.location;
  } catch (error) {
    throw toAppError(error, route);
  }
}

function headersWith(token: string): Headers {
  return { authorization: `token ${token}` };
}

function isUnauthorized(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "authentication_required";
}

/** The `Link` header of the last page names no last page. */
function lastPageOf(link: string, { page = 1 }: Parameters): number {
  const last = /[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link)?.[1];
  return Number(last ?? page);
}

function nextCursorOf(link: string): string | undefined {
  return /[?&]cursor=([^&>]+)[^>]*>;\s*rel="next"/.exec(link)?.[1];
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
