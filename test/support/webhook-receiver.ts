import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, post: ReceivedPost) => void;

/** A server that receives webhooks of runs, on all addresses of this machine, so that it sees every connection. */
export interface WebhookReceiver {
  readonly port: number;
  readonly url: string;
  readonly posts: ReceivedPost[];
  /** Connections ever made, whether or not a request came over them. */
  readonly connections: number;
  /** The address of ours that the newest connection was made to. */
  readonly reachedAt: string | undefined;
  answer: Answer;
  openConnections(): Promise<number>;
  close(): Promise<void>;
}

export function answerWith(status: number, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, headers).end();
  };
}

export async function startWebhookReceiver(tls?: { key: string; cert: string }): Promise<WebhookReceiver> {
  const posts: ReceivedPost[] = [];
  let connections = 0;
  let reachedAt: string | undefined;
  const listener: RequestListener = async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks).toString();
    const post = { path: request.url ?? "", headers: request.headers, body };
    posts.push(post);
    receiver.answer(response, post);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on("connection", ({ localAddress }: Socket) => {
    connections += 1;
    reachedAt = localAddress?.replace("::ffff:", "");
  });
  server.listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    port,
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`,
    posts,
    get connections() {
      return connections;
    },
    get reachedAt() {
      return reachedAt;
    },
    answer: answerWith(204),
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
