import type { ApiHarness } from "./api-harness.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read bodies of every shape, and a missing member fails the test by itself.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The key to send. `null` sends none. Default: the administrator's. */
  readonly key?: string | null;
}

/** Sends one request over real HTTP as a client library does. */
export async function call(harness: ApiHarness, path: string, options: Call = {}): Promise<Answer> {
  const {
    method = options.body === undefined ? "GET" : "POST",
    body,
    key = harness.key,
    headers = {},
  } = options;
  const response = await fetch(`${harness.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** Creates a run and returns its id. */
export async function createRun(harness: ApiHarness, body: object = {}, options: Call = {}): Promise<string> {
  const answer = await call(harness, "/api/v1/agent/runs", {
    ...options,
    body: { prompt: "do it", ...body },
  });
  if (answer.status !== 200) {
    throw new Error(`No run: ${answer.status} ${answer.text}`);
  }
  return answer.body.run_id;
}
