import {
  APIConnectionTimeoutError,
  ErrandError,
  errorOfConnection,
  errorOfResponse,
  InvalidResponseError,
} from "../errors.ts";
import { type Clock, sleep } from "./clock.ts";
import type { RequestLog } from "./log.ts";
import { type ApiRequest, headersOf, requireKnownRequest, urlOf } from "./request.ts";
import { requireMembers } from "./require-members.ts";
import { pauseBeforeRetry } from "./retry.ts";

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface SenderDeps {
  /** Ends with the version of the API and without a slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly defaultHeaders: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: RequestLog;
}

export interface Answer {
  /** The method and the path of the request, without its query. */
  readonly name: string;
  readonly response: Response;
  /** The value of a JSON body, or the text of another one. undefined if there is none, or if it was not read. */
  readonly body: unknown;
}

interface Attempt {
  readonly name: string;
  readonly url: string;
  readonly init: RequestInit;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** False: the response is returned as soon as its headers have arrived. */
  readonly readsBody: boolean;
}

/** Sends requests: with a timeout for each try, and with retries. */
export class Sender {
  readonly #deps: SenderDeps;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  get clock(): Clock {
    return this.#deps.clock;
  }

  async send(request: ApiRequest, readsBody: boolean): Promise<Answer> {
    requireKnownRequest(request);
    const { method, body, signal, maxRetries = this.#deps.maxRetries } = request;
    const { log } = this.#deps;
    const name = `${method} ${request.path.split("?", 1)[0]}`;
    const attempt: Attempt = {
      name,
      url: urlOf(this.#deps.baseUrl, request),
      init: {
        method,
        headers: headersOf(request, this.#deps),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      timeoutMs: request.timeoutMs ?? this.#deps.timeoutMs,
      signal,
      readsBody,
    };
    for (let retries = 0; ; retries += 1) {
      log.requested(name, retries);
      try {
        const answer = await this.#try(attempt);
        log.answered(name, answer.response);
        return answer;
      } catch (error) {
        const pauseMs = retries < maxRetries ? this.pauseBefore(error, retries) : undefined;
        log.failed(name, error as ErrandError, pauseMs);
        if (pauseMs === undefined) {
          throw error;
        }
        await this.sleep(pauseMs, signal);
      }
    }
  }

  /** Returns the pause before the next try, or undefined if it would fail as well. */
  pauseBefore(error: unknown, retries: number): number | undefined {
    const { clock, random } = this.#deps;
    return pauseBeforeRetry(error, { retries, now: clock.now(), random: random() });
  }

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await sleep(this.#deps.clock, ms, signal).catch((error: unknown) => {
      throw errorOfConnection(error, signal);
    });
  }

  async #try(attempt: Attempt): Promise<Answer> {
    const { signal, timeoutMs } = attempt;
    const timeout = new AbortController();
    const stopTimer = this.#deps.clock.after(timeoutMs, () => timeout.abort());
    try {
      signal?.throwIfAborted();
      return await this.#fetch(attempt, timeout.signal);
    } catch (error) {
      throw errorOfTry(error, attempt, timeout.signal);
    } finally {
      stopTimer();
    }
  }

  async #fetch({ name, url, init, signal, readsBody }: Attempt, timeout: AbortSignal): Promise<Answer> {
    const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const response = await this.#deps.fetch(url, { ...init, signal: either });
    if (hasLostRequest(response, init)) {
      throw new ErrandError(`The address of the server leads to another one. Use ${originOf(response)}`);
    }
    if (!response.ok) {
      throw errorOfResponse(response, await response.text());
    }
    const answer = { name, response, body: readsBody ? await bodyOf(name, response) : undefined };
    // `fields` leaves out required members, too.
    if (readsBody && !new URL(url).searchParams.has("fields")) {
      requireMembers(name, answer.body, response);
    }
    return answer;
  }
}

/** A redirect to another origin loses the key, and most redirects turn a write into a GET. */
function hasLostRequest({ redirected, status }: Response, { method }: RequestInit): boolean {
  return redirected && (method !== "GET" || status === 401);
}

function originOf({ url }: Response): string {
  return new URL(url).origin;
}

async function bodyOf(name: string, response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (/^text\/html\b/i.test(type)) {
    const fault = "is a page instead of JSON: check the address of the server";
    throw new InvalidResponseError(fault, { name, response });
  }
  const text = await response.text();
  if (text === "") {
    return undefined;
  }
  // Without a length, a truncated response is noticed only here.
  return /\bjson\b/i.test(type) ? JSON.parse(text) : text;
}

function errorOfTry(error: unknown, { signal, timeoutMs }: Attempt, timeout: AbortSignal): ErrandError {
  if (timeout.aborted && !signal?.aborted && !(error instanceof ErrandError)) {
    return new APIConnectionTimeoutError(`The server did not answer within ${timeoutMs} ms.`, {
      cause: error,
    });
  }
  return errorOfConnection(error, signal);
}
