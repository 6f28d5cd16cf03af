import { ErrandError } from "../errors.ts";
import { VERSION } from "../version.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type QueryValue = string | number | boolean | undefined;

/** Lists are sent as repeated keys, and records as `key[member]`. */
export type Query = Readonly<
  Record<string, QueryValue | readonly QueryValue[] | Readonly<Record<string, QueryValue>>>
>;

/** What can be changed for a single request. */
export interface RequestOptions {
  /**
   * How long one try may take until its response is complete. Default: that of the client.
   *
   * @example 5_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often the request is repeated if it fails in a way that may pass. 0: never. Default: that of the client.
   *
   * @example 5
   */
  readonly maxRetries?: number | undefined;
  /** Ends the request, its waits and its retries. The call then throws `APIUserAbortError`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The server performs a write with the same key only once, within a day. Default for writes: a new random key, which
   * all retries of the call use.
   *
   * @example "import-4711"
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The `ETag` of the answer that a change is based on: `(await client.schedules.retrieve(id).withResponse()).response`
   * has it. If the resource has been changed since, the call throws `APIError` with the status 412.
   */
  readonly ifMatch?: string | undefined;
  /** Further headers. They win over those of the client. `undefined` removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Further members of the query. */
  readonly query?: Query | undefined;
}

export interface ApiRequest extends RequestOptions {
  readonly method: Method;
  /** Below `/api/v1`, such as `/agent/runs`. */
  readonly path: string;
  /** A value to be sent as JSON. undefined: no body. */
  readonly body?: unknown;
}

/** The types make both lists complete, so that a further option is not refused. */
const REQUEST: Readonly<Record<keyof ApiRequest, true>> = {
  ...{ body: true, headers: true, idempotencyKey: true, ifMatch: true, maxRetries: true, method: true },
  ...{ path: true, query: true, signal: true, timeoutMs: true },
};

export function requireKnownRequest(request: ApiRequest): void {
  requireKnown(request, REQUEST);
}

/** A misspelt option would be ignored, and JavaScript has no types that refuse it. */
export function requireKnown(options: object, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length > 0) {
    throw new ErrandError(
      `Unknown options: ${unknown.join(", ")}. Options: ${Object.keys(known).join(", ")}.`,
    );
  }
}

/** Adds the query of a method to the options of a call. */
export function withQuery(query: Query, options: RequestOptions | undefined): RequestOptions {
  return { ...options, query: { ...query, ...options?.query } };
}

/** Fills values into a path: `` path`/agent/runs/${id}` ``. */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.map((text, index) => text + (index < values.length ? segment(values[index]) : "")).join("");
}

/** An empty value or one of dots would lead to another endpoint. */
function segment(value: string | undefined): string {
  if (typeof value !== "string" || /^\.{0,2}$/.test(value)) {
    throw new ErrandError(`An id must be a text that is not empty: ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}

export function urlOf(baseUrl: string, { path: relative, query = {} }: ApiRequest): string {
  if (!relative.startsWith("/")) {
    throw new ErrandError(`A path must begin with "/": ${relative}`);
  }
  const url = new URL(baseUrl + relative);
  for (const [key, value] of Object.entries(query).flatMap(pairsOf)) {
    if (value !== undefined) {
      url.searchParams.append(key, String(value));
    }
  }
  return url.href;
}

function pairsOf([key, value]: [string, Query[string]]): (readonly [string, QueryValue])[] {
  if (isList(value)) {
    return value.map((entry) => [key, entry] as const);
  }
  if (typeof value === "object") {
    return Object.entries(value).map(([member, entry]) => [`${key}[${member}]`, entry] as const);
  }
  return [[key, value]];
}

/** Unlike `Array.isArray`, it recognizes readonly lists. */
function isList(value: Query[string]): value is readonly QueryValue[] {
  return Array.isArray(value);
}

export interface HeaderSources {
  readonly apiKey: string | undefined;
  readonly defaultHeaders: Readonly<Record<string, string | undefined>>;
}

/** The headers of a request and of all its retries. */
export function headersOf(request: ApiRequest, { apiKey, defaultHeaders }: HeaderSources): Headers {
  const headers = new Headers({ accept: "application/json" });
  if (USER_AGENT !== undefined) {
    headers.set("user-agent", USER_AGENT);
  }
  if (apiKey !== undefined) {
    setHeader(headers, "authorization", `Bearer ${apiKey}`);
  }
  if (request.body !== undefined) {
    headers.set("content-type", "application/json");
  }
  if (request.method !== "GET") {
    setHeader(headers, "idempotency-key", request.idempotencyKey ?? randomKey());
  }
  if (request.ifMatch !== undefined) {
    setHeader(headers, "if-match", request.ifMatch);
  }
  for (const [name, value] of [...Object.entries(defaultHeaders), ...Object.entries(request.headers ?? {})]) {
    if (value === undefined) {
      headers.delete(name);
    } else {
      setHeader(headers, name, value);
    }
  }
  return headers;
}

/** The error of the platform would show the value, which may be a key. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    const what = name === "authorization" ? "The API key" : `The header ${name}`;
    throw new ErrandError(`${what} has characters that cannot be sent.`);
  }
}

/** A browser names itself, and another name would make it ask a server of another origin first. */
const USER_AGENT = userAgentOf(globalThis as { process?: { versions?: { node?: string } } });

/** Bun and Deno say which Node they are like. */
function userAgentOf({ process }: { process?: { versions?: { node?: string } } }): string | undefined {
  const node = process?.versions?.node;
  return node === undefined ? undefined : `errand-js/${VERSION} node/${node}`;
}

/** Not `randomUUID`, which browsers offer only over HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `errand-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
