import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FrontRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly search: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface FrontAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** `drop`: the connection is destroyed without a byte of an answer. */
export type FrontOutcome = FrontAnswer | "drop";

export interface FrontServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The HTTP server in front of an emulator. The emulator itself is called in process, because only the owner of the
 * socket can drop a connection after the write has happened.
 */
export async function startFrontServer(
  answer: (request: FrontRequest) => Promise<FrontOutcome>,
): Promise<FrontServer> {
  const server = createServer((request, response) => void serve(request, response, answer));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): FrontAnswer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(value),
  };
}

/** The value of a JSON answer; undefined for any other. */
export function jsonOf(answer: FrontAnswer): unknown {
  if (!answer.headers["content-type"]?.includes("json") || answer.body.length === 0) {
    return undefined;
  }
  return JSON.parse(answer.body.toString());
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: FrontRequest) => Promise<FrontOutcome>,
): Promise<void> {
  try {
    const outcome = await answer(await readRequest(request));
    if (outcome === "drop") {
      response.destroy();
      return;
    }
    response.writeHead(outcome.status, outcome.headers).end(outcome.body);
  } catch (error) {
    response.writeHead(500).end(`The test double failed: ${error instanceof Error ? error.stack : error}`);
  }
}

async function readRequest(request: IncomingMessage): Promise<FrontRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const { pathname, search } = new URL(request.url ?? "/", "http://front");
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    headers.set(name, String(value));
  }
  return { method: request.method ?? "GET", path: pathname, search, headers, body: Buffer.concat(chunks) };
}
