import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An HTTP server of a third party that answers as a test says. */
export interface AnsweringServer {
  readonly url: string;
  readonly port: number;
  /** Only complete requests, unless `answer` responds before the body is read. */
  readonly requests: SeenRequest[];
  answer: (response: ServerResponse, request: SeenRequest) => void;
  /** Called before the body is read. True: the request is completely handled. */
  early: (request: IncomingMessage, response: ServerResponse) => boolean;
  stop(): Promise<void>;
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  const server = createServer(async (request, response) => {
    response.on("error", () => undefined);
    if (started.early(request, response)) {
      return;
    }
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) {
      return;
    }
    const { headers, method = "", url = "" } = request;
    const seen = { method, url, headers, body: body.toString() };
    started.requests.push(seen);
    started.answer(response, seen);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const started: AnsweringServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: [],
    answer: (response) => void response.end("nothing to say"),
    early: () => false,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return started;
}

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

export function eventOf(value: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
}

export function answerEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(events.join(""));
}
