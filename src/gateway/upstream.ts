import { Readable } from "node:stream";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { ForbiddenDestination } from "../outgoing/guarded-connector.ts";
import { Refusal } from "./refusal.ts";

export interface UpstreamRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string | string[]>;
  readonly body?: AsyncIterable<Buffer> | Buffer;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Readable;
}

export interface UpstreamOptions {
  readonly connectMs: number;
  readonly responseMs: number;
  readonly idleMs: number;
  /** Default: no restriction, for addresses that the operator configured. */
  readonly connect?: buildConnector.connector;
}

/** Forwards requests of a sandbox to servers. It follows no redirects. */
export class Upstream {
  readonly #agent: Agent;

  constructor({ responseMs, connect, connectMs, idleMs }: UpstreamOptions) {
    this.#agent = new Agent({
      connect: connect ?? { timeout: connectMs, rejectUnauthorized: true },
      allowH2: false,
      headersTimeout: responseMs,
      bodyTimeout: idleMs,
    });
  }

  /** Rejects with a `Refusal` when there is no response. */
  async send({ body, headers, method, signal, url }: UpstreamRequest): Promise<UpstreamResponse> {
    try {
      const response = await this.#agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: method as Dispatcher.HttpMethod,
        headers,
        body: streamed(body),
        signal,
      });
      return { status: response.statusCode, headers: response.headers, body: response.body };
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(...reasonOf(error));
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function streamed(body: UpstreamRequest["body"]): Readable | Buffer | null {
  if (body === undefined || Buffer.isBuffer(body)) {
    return body ?? null;
  }
  return Readable.from(body, { objectMode: false });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name cannot be resolved",
  EAI_AGAIN: "its name cannot be resolved now",
  ECONNREFUSED: "the connection was refused",
  UND_ERR_CONNECT_TIMEOUT: "the connection could not be made in time",
  UND_ERR_HEADERS_TIMEOUT: "it did not answer in time",
};
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_/;

/** Uses only the code of the error, because its message contains addresses of the operator's network. */
export function reasonOf(error: unknown): [status: number, reason: string] {
  if (error instanceof ForbiddenDestination) {
    return [403, error.message];
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const usual = CERTIFICATE.test(code) ? "its certificate is not valid" : "the connection broke off";
  const status = code === "UND_ERR_HEADERS_TIMEOUT" ? 504 : 502;
  return [status, `The server could not be reached: ${REASONS[code] ?? usual} (${code}).`];
}
