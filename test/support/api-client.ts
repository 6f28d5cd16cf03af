import { setTimeout as pause } from "node:timers/promises";
import { AnswerJudge, type OpenapiDocument } from "./openapi-answers.ts";
import { waitFor } from "./wait-for.ts";

/** Calls the API of a service as any client does. */
export interface ApiClient {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  createRun(prompt: string, rest?: Record<string, unknown>): Promise<string>;
  getRun(runId: string): Promise<RunItem>;
  listRuns(query?: string): Promise<readonly RunItem[]>;
  followUp(runId: string, message: string, rest?: Record<string, unknown>): Promise<void>;
  cancel(runId: string): Promise<ApiAnswer>;
  events(runId: string): Promise<readonly LoggedEvent[]>;
  waitForState(runId: string, states: string | readonly string[], timeoutMs?: number): Promise<RunItem>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface RunItem {
  readonly run_id: string;
  readonly state: string;
  readonly is_sandbox_running: boolean;
  readonly status_message?: { readonly message: string; readonly error_code?: string };
  readonly [member: string]: unknown;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly kind: string;
  readonly turn: number;
  readonly [member: string]: unknown;
}

const ANSWER_MS = 30_000;
const PAGE = 500;
const TRIES = 5;

/** Each JSON answer is checked against the service's own OpenAPI document. */
export function createApiClient(service: { readonly url: string; readonly apiKey: string }): ApiClient {
  const judge = createJudge(service.url);
  const call: ApiClient["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json", ...headers },
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers: said } = response;
    const answer = { status, headers: said, body: text === "" ? undefined : JSON.parse(text) };
    await judge(method, `/api/v1${path}`, answer);
    return answer;
  };
  const ok = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    let answer = await call(method, path, body, headers);
    // An overloaded machine answers 503 now and then, and says when to try again.
    for (let tries = 1; answer.status === 503 && tries < TRIES; tries += 1) {
      await pause(1_000 * Number(answer.headers.get("retry-after") ?? 1));
      answer = await call(method, path, body, headers);
    }
    if (answer.status !== 200) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  const getRun: ApiClient["getRun"] = async (runId) => (await ok("GET", `/agent/runs/${runId}`)) as RunItem;
  return {
    call,
    getRun,
    createRun: async (prompt, rest = {}) => {
      const created = (await ok("POST", "/agent/runs", { prompt, ...rest })) as { run_id: string };
      return created.run_id;
    },
    listRuns: async (query = "") =>
      ((await ok("GET", `/agent/runs?limit=500${query}`)) as { runs: RunItem[] }).runs,
    followUp: async (runId, message, rest = {}) => {
      await ok("POST", `/agent/runs/${runId}/followups`, { message, ...rest });
    },
    cancel: (runId) => call("POST", `/agent/runs/${runId}/cancel`),
    events: async (runId) =>
      readAll((path) => ok("GET", path, undefined, { accept: "application/json" }), runId),
    waitForState: (runId, states, timeoutMs = 30_000) =>
      waitFor(
        async () => {
          const run = await getRun(runId);
          return [states].flat().includes(run.state) ? run : undefined;
        },
        { what: `run ${runId} to be ${[states].flat().join(" or ")}`, timeoutMs },
      ),
  };
}

function createJudge(url: string): (method: string, path: string, answer: ApiAnswer) => Promise<void> {
  let judge: AnswerJudge | undefined;
  return async (method, path, { status, headers, body }) => {
    judge ??= await findJudge(url);
    const contentType = headers.get("content-type") ?? "";
    const mismatch = judge?.mismatch({ method, path, status, contentType, body });
    if (mismatch !== undefined) {
      throw new Error(`Not what the OpenAPI document says: ${mismatch}`);
    }
  };
}

/** Undefined: the service has already ended. The next answer is checked. */
async function findJudge(url: string): Promise<AnswerJudge | undefined> {
  try {
    const response = await fetch(`${url}/api/v1/openapi.json`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return new AnswerJudge((await response.json()) as OpenapiDocument);
  } catch {
    return undefined;
  }
}

async function readAll(get: (path: string) => Promise<unknown>, runId: string): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.seq ?? 0;
    const page = (await get(`/agent/runs/${runId}/events?after=${after}&limit=${PAGE}`)) as {
      events: LoggedEvent[];
    };
    events.push(...page.events);
    if (page.events.length < PAGE) {
      return events;
    }
  }
}
