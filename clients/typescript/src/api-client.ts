import { ErrandError } from "./errors.ts";
import { ApiPromise } from "./http/api-promise.ts";
import { type Clock, SYSTEM_CLOCK } from "./http/clock.ts";
import { ListPromise } from "./http/list-promise.ts";
import { type LogLevel, loggerOf } from "./http/log.ts";
import type { ApiRequest, RequestOptions } from "./http/request.ts";
import { requireKnown } from "./http/request.ts";
import { type Fetch, Sender } from "./http/sender.ts";

export interface ClientOptions {
  /**
   * The address of the server. Default: the variable `ERRAND_URL`, otherwise `http://127.0.0.1:8787`.
   *
   * @example "https://errand.example.com"
   */
  readonly baseUrl?: string | undefined;
  /**
   * An API key. Default: the variable `ERRAND_API_KEY`. null: requests are sent without a key, for example from a page
   * of the server itself, where the browser sends the cookie of the sign-in.
   */
  readonly apiKey?: string | null | undefined;
  /**
   * How long one try of a request may take until its response is complete.
   *
   * @default 60_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a request is repeated if it fails in a way that may pass: without a response, with 408, 409, 429 or a
   * status from 500, or if the server says so. The pauses are 0.5 s, 1 s, 2 s up to 8 s, each up to a quarter shorter at
   * random. A pause that the server names is used instead.
   *
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * Headers of all requests. `undefined` removes a header.
   *
   * @example { "X-Run-Source": "CLI" }
   */
  readonly defaultHeaders?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * What is written to the console: `info` each response, failure and retry, `debug` each request as well. Keys, headers,
   * queries and bodies are never written. Default: the variable `ERRAND_LOG`, otherwise `off`.
   *
   * @example "info"
   */
  readonly logLevel?: LogLevel | undefined;
  /** Used instead of the global `fetch`, for example to go through a proxy. */
  readonly fetch?: Fetch | undefined;
  /** Used for timeouts and pauses instead of the system's clock, for example in tests. */
  readonly clock?: Clock | undefined;
  /** Returns a number from 0 to 1. Used instead of `Math.random` to shorten pauses. */
  readonly random?: (() => number) | undefined;
}

/** Options of a call without a method of its own. */
export interface CallOptions extends RequestOptions {
  /** A value to be sent as JSON. */
  readonly body?: unknown;
}

/** The type makes the list complete, so that a further option is not refused. */
const OPTIONS: Readonly<Record<keyof ClientOptions, true>> = {
  ...{ apiKey: true, baseUrl: true, clock: true, defaultHeaders: true, fetch: true },
  ...{ logLevel: true, maxRetries: true, random: true, timeoutMs: true },
};

const DEFAULT_URL = "http://127.0.0.1:8787";
const API_PATH = "/api/v1";
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RETRIES = 2;

/**
 * The part of the client that all resources share: it sends requests. `Errand` adds the resources. A program that
 * needs only a few of them can create those itself, and its bundle contains no others:
 *
 * @example
 * const runs = new Runs(new ApiClient());
 */
export class ApiClient {
  /** @internal */
  readonly sender: Sender;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    requireKnown(options, OPTIONS);
    this.#options = options;
    // Called without `this`, because the `fetch` of browsers accepts no other.
    const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
    this.sender = new Sender({
      baseUrl: withApiPath(options.baseUrl ?? variable("ERRAND_URL") ?? DEFAULT_URL),
      apiKey: keyOf(options),
      defaultHeaders: options.defaultHeaders ?? {},
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
      fetch,
      clock: options.clock ?? SYSTEM_CLOCK,
      random: options.random ?? Math.random,
      log: loggerOf(options.logLevel ?? variable("ERRAND_LOG")),
    });
  }

  /**
   * Creates a client with other options. What is left out is as in this client.
   *
   * @example
   * await client.withOptions({ timeoutMs: 5_000 }).whoami();
   */
  withOptions(options: ClientOptions): this {
    const Client = this.constructor as new (options: ClientOptions) => this;
    return new Client({ ...this.#options, ...options });
  }

  /** Sends a GET to an endpoint below `/api/v1`. */
  get<T = unknown>(path: string, options: RequestOptions = {}): ApiPromise<T> {
    return this.request({ ...options, method: "GET", path });
  }

  /** Sends a POST to an endpoint below `/api/v1`. */
  post<T = unknown>(path: string, options: CallOptions = {}): ApiPromise<T> {
    return this.request({ ...options, method: "POST", path });
  }

  /** Sends a PUT to an endpoint below `/api/v1`. */
  put<T = unknown>(path: string, options: CallOptions = {}): ApiPromise<T> {
    return this.request({ ...options, method: "PUT", path });
  }

  /** Sends a PATCH to an endpoint below `/api/v1`. */
  patch<T = unknown>(path: string, options: CallOptions = {}): ApiPromise<T> {
    return this.request({ ...options, method: "PATCH", path });
  }

  /** Sends a DELETE to an endpoint below `/api/v1`. */
  delete<T = unknown>(path: string, options: CallOptions = {}): ApiPromise<T> {
    return this.request({ ...options, method: "DELETE", path });
  }

  /** @internal Lists by GET. `entriesOf` returns the entries of a page. */
  list<Body, Entry>(
    path: string,
    entriesOf: (body: Body) => readonly Entry[],
    options: RequestOptions = {},
  ): ListPromise<Body, Entry> {
    const behind = (cursor: string) =>
      this.list(path, entriesOf, { ...options, query: { ...options.query, cursor } });
    const request: ApiRequest = { ...options, method: "GET", path };
    return new ListPromise((readsBody) => this.sender.send(request, readsBody), entriesOf, behind);
  }

  private request<T>(request: ApiRequest): ApiPromise<T> {
    // The server promises the type in its OpenAPI document.
    return new ApiPromise(
      (readsBody) => this.sender.send(request, readsBody),
      ({ body }) => body as T,
    );
  }
}

function keyOf({ apiKey = variable("ERRAND_API_KEY") }: ClientOptions): string | undefined {
  if (apiKey === undefined || apiKey?.trim() === "") {
    throw new ErrandError("An API key is missing. Pass `apiKey`, or set the variable ERRAND_API_KEY.");
  }
  return apiKey ?? undefined;
}

/** Other clients of this API expect the path as a part of the address. Both forms are accepted. */
function withApiPath(address: string): string {
  const { origin, pathname } = urlFrom(address);
  const path = pathname.replace(/\/+$/, "");
  return origin + (path.endsWith(API_PATH) ? path : path + API_PATH);
}

function urlFrom(address: string): URL {
  try {
    return new URL(address);
  } catch (cause) {
    throw new ErrandError(`The address of the server is not a URL: ${address}`, { cause });
  }
}

/** Not every runtime has environment variables. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
