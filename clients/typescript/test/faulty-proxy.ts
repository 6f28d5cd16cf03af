import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What happens to one request on its way to the server. */
export type Fault =
  /** The connection breaks before the server gets the request. */
  | { readonly kind: "drop" }
  /** The server gets the request, and the connection breaks before any response. */
  | { readonly kind: "drop-response" }
  /** The connection breaks in the middle of the response. */
  | { readonly kind: "truncate" }
  /** The server gets the request, and no response ever arrives. */
  | { readonly kind: "hang" }
  /** The proxy answers itself. */
  | { readonly kind: "answer"; readonly status: number; readonly headers?: Readonly<Record<string, string>> };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/** An HTTP proxy before a real server. The requests meet the faults that were queued, one each, and then none. */
export class FaultyProxy {
  readonly faults: Fault[] = [];
  readonly seen: SeenRequest[] = [];
  /** Called before a request is passed on. */
  before: (request: SeenRequest) => Promise<void> = async () => undefined;
  /** The address of the server. */
  target: string;
  readonly #server: Server;

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((request, response) => {
      this.#handle(this.target, request, response).catch(() => response.destroy());
    });
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks all connections, also those of event streams. */
  breakAll(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server.close(), "close");
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method = "GET", url = "/" } = request;
    this.seen.push({ method, path: url, headers });
    const body = await buffer(request);
    await this.before({ method, path: url, headers });
    const fault = this.faults.shift();
    if (fault?.kind === "drop") {
      response.destroy();
      return;
    }
    if (fault?.kind === "answer") {
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers }).end("{}");
      return;
    }
    const { connection: _, host: __, "content-length": ___, ...forwarded } = headers;
    const answer = await fetch(target + url, {
      method,
      headers: forwarded as Record<string, string>,
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    if (fault?.kind === "drop-response") {
      await answer.arrayBuffer();
      response.destroy();
    } else if (fault?.kind === "hang") {
      await answer.arrayBuffer();
    } else if (fault?.kind === "truncate") {
      const whole = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status, { ...headersOf(answer), "content-length": String(whole.length) });
      response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
    } else {
      response.writeHead(answer.status, headersOf(answer));
      for await (const chunk of answer.body ?? []) {
        response.write(chunk);
      }
      response.end();
    }
  }
}

/** Without those that belong to the other connection. */
function headersOf(answer: Response): Record<string, string> {
  const kept = Array.from(answer.headers).filter(
    ([name]) => !["connection", "content-encoding", "content-length", "transfer-encoding"].includes(name),
  );
  return Object.fromEntries(kept);
}
