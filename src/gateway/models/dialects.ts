import type { ModelProviders } from "../../config/models.ts";

export type Provider = keyof ModelProviders;

export interface Route {
  /** Whether a model generates something: such calls are counted, and their errors are the run's. */
  readonly generates: boolean;
  /** Whether the model reports its usage in a stream only on request. */
  readonly reportsUsageOnRequest: boolean;
  /** The model, if the path names it. */
  readonly model?: string;
}

/** How to speak to a provider. */
export interface Dialect {
  /** For people. */
  readonly title: string;
  /** The variables that configure it. */
  readonly variables: string;
  keyHeaders(key: string): Record<string, string>;
  /** Undefined: agents may not use it. */
  routeOf(method: string, path: string): Route | undefined;
  /** An error in the format of the provider. */
  errorOf(status: number, message: string): unknown;
}

const GENERATES: Route = { generates: true, reportsUsageOnRequest: false };
const CHAT: Route = { generates: true, reportsUsageOnRequest: true };
const OTHER: Route = { generates: false, reportsUsageOnRequest: false };

type Pattern = readonly [method: string, path: RegExp, route: Route];

const OPENAI: readonly Pattern[] = [
  ["POST", /^\/(chat\/)?completions$/, CHAT],
  // Codex uses the last two to shorten its history and to store what it learned from it.
  ["POST", /^\/(responses|responses\/compact|memories\/trace_summarize)$/, GENERATES],
  ["POST", /^\/embeddings$/, OTHER],
  ["GET", /^\/models(\/[\w.:@/-]+)?$/, OTHER],
];

const ANTHROPIC: readonly Pattern[] = [
  ["POST", /^\/v1\/messages$/, GENERATES],
  ["POST", /^\/v1\/messages\/count_tokens$/, OTHER],
  ["GET", /^\/v1\/models(\/[\w.:@-]+)?$/, OTHER],
];

const GEMINI: readonly Pattern[] = [
  ["POST", /^\/v1(?:beta|alpha)?\/models\/(?<model>[\w.@-]+):(stream)?[gG]enerateContent$/, GENERATES],
  ["POST", /^\/v1(?:beta|alpha)?\/models\/(?<model>[\w.@-]+):(countTokens|(batchE|e)mbedContents?)$/, OTHER],
  ["GET", /^\/v1(?:beta|alpha)?\/models(\/(?<model>[\w.@-]+))?$/, OTHER],
];

const routeIn =
  (patterns: readonly Pattern[]): Dialect["routeOf"] =>
  (method, path) => {
    for (const [patternMethod, pattern, route] of patterns) {
      const match = patternMethod === method ? pattern.exec(path) : null;
      const model = match?.groups?.model;
      if (match !== null) {
        return model === undefined ? route : { ...route, model };
      }
    }
    return undefined;
  };

export const DIALECTS: Readonly<Record<Provider, Dialect>> = {
  openai: {
    title: "OpenAI",
    variables: "OPENAI_API_KEY or OPENAI_BASE_URL",
    keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
    routeOf: routeIn(OPENAI),
    errorOf: (status, message) => ({
      error: { message, type: "gateway_error", param: null, code: `${status}` },
    }),
  },
  anthropic: {
    title: "Anthropic",
    variables: "ANTHROPIC_API_KEY",
    keyHeaders: (key) => ({ "x-api-key": key }),
    routeOf: routeIn(ANTHROPIC),
    errorOf: (status, message) => ({ type: "error", error: { type: anthropicType(status), message } }),
  },
  gemini: {
    title: "Gemini",
    variables: "GEMINI_API_KEY",
    keyHeaders: (key) => ({ "x-goog-api-key": key }),
    routeOf: routeIn(GEMINI),
    errorOf: (status, message) => ({ error: { code: status, message, status: googleStatus(status) } }),
  },
};

function anthropicType(status: number): string {
  if (status === 403) {
    return "permission_error";
  }
  if (status === 404) {
    return "not_found_error";
  }
  if (status === 429) {
    return "rate_limit_error";
  }
  return status >= 500 ? "api_error" : "invalid_request_error";
}

function googleStatus(status: number): string {
  if (status === 403) {
    return "PERMISSION_DENIED";
  }
  if (status === 404) {
    return "NOT_FOUND";
  }
  if (status === 429) {
    return "RESOURCE_EXHAUSTED";
  }
  return status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT";
}
