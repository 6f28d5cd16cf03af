import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import type { GithubConfig } from "./config.ts";
import { MovedError, toAppError } from "./errors.ts";
import { InstallationTokens, type TokenScope } from "./installation-tokens.ts";
import type { GithubCall, Repository, RepositoryCall, RepositoryRoute, Route } from "./routes.ts";

const REQUEST_TIMEOUT_MS = 10_000;
/** A wrong time must not stop an installation for days. */
const WAIT_MAX_MS = 60 * 60_000;

const tokenAnswer = z.object({ token: z.string() });
export const installationAnswer = z.object({ id: z.int() });

export interface GithubClientDeps {
  readonly log: Log;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

type Parameters = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

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
  readonly #app: Octokit;
  readonly #octokit: Octokit;
  readonly #known = new KnownAnswers();
  readonly #now: () => number;
  readonly #tokens: InstallationTokens;
  readonly #waits = new Map<string, Wait>();

  constructor(config: GithubConfig, deps: GithubClientDeps) {
    const { appId, privateKey, apiUrl } = config;
    const BoundOctokit = octokitFor(apiUrl, deps);
    const auth = { appId, privateKey, log: quietLog(deps.log) };
    this.#app = new BoundOctokit({ authStrategy: createAppAuth, auth });
    this.#octokit = new BoundOctokit();
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

  /** The installation changed on GitHub: earlier refusals and tokens no longer apply. */
  forget(installation: string): void {
    this.#tokens.forget(installation);
    this.#waits.delete(installation);
  }

  async #createToken(installation: string, scope: TokenScope = {}): Promise<string> {
    const route = "POST /app/installations/{installation_id}/access_tokens";
    const parameters = { installation_id: Number(installation), ...scope };
    return (await this.asApp({ route, parameters, answer: tokenAnswer })).token;
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

/** GitHub's REST API with the token of a team, without the App. */
export class GithubTokenClient {
  readonly #octokit: Octokit;

  constructor(apiUrl: string, token: string, deps: GithubClientDeps) {
    this.#octokit = new (octokitFor(apiUrl, deps))({ auth: token });
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

/** What GitHub answered to a call. */
export interface Received {
  readonly data: unknown;
  readonly link: string;
  /** GitHub compares it with a later answer and says whether that is the same. */
  readonly etag: string | undefined;
}

const ANSWERS_MAX = 500;
const LENGTH_MAX = 64 * 1024;

/** The last answers to reads, so that GitHub need not send and count them again while nothing has changed. */
class KnownAnswers {
  readonly #answers = new Map<string, Received>();

  get(call: string): Received | undefined {
    return this.#answers.get(call);
  }

  /** An answer without an ETag, or a long one, is not kept. */
  keep(call: string, answer: Received): void {
    // The newest is the last, and the oldest is forgotten first.
    this.#answers.delete(call);
    if (answer.etag === undefined || lengthOf(answer.data) > LENGTH_MAX) {
      return;
    }
    this.#answers.set(call, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) {
      this.#answers.delete(oldest);
    }
  }
}

/** Octokit reads an integer that a number cannot hold as a bigint. */
function lengthOf(data: unknown): number {
  const json = JSON.stringify(data, (_name, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return json?.length ?? 0;
}
