import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { type FrontServer, jsonAnswer, startFrontServer } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";
import { waitFor } from "../wait-for.ts";

export interface SocketEnvelope {
  readonly type: "events_api" | "interactive" | "slash_commands";
  readonly payload: JsonRecord;
  readonly envelopeId?: string;
  readonly acceptsResponse?: boolean;
  /** How often Slack has sent it before. */
  readonly attempt?: number;
}

/**
 * Slack's side of Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode). All other methods of the Web
 * API are forwarded to `apiUrl`.
 */
export class SocketModeServer {
  readonly appToken = "xapp-1-canary-of-the-app-token";
  /** The address of the Web API that the app is given. */
  readonly apiUrl: string;
  /** The open connections, the oldest first. */
  readonly connections: SocketConnectionEnd[] = [];
  /** What `apps.connections.open` answers, instead of an address. */
  refusal: string | undefined;
  /** `apps.connections.open` is answered 429 with this time, and not served. */
  retryAfterSeconds: number | undefined;
  /** The address that `apps.connections.open` gives refuses connections. */
  isUnreachable = false;
  /** New connections are accepted and then left alone: no hello, no answer to a ping. */
  isMute = false;
  /** The number of calls of `apps.connections.open`. */
  opened = 0;
  readonly #sockets: WebSocketServer;
  #front: FrontServer | undefined;

  static async start(apiUrl?: string): Promise<SocketModeServer> {
    const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0, autoPong: true });
    await once(sockets, "listening");
    let server: SocketModeServer | undefined;
    const front = await startFrontServer(async ({ body, headers, method, path }) => {
      if (path === "/api/apps.connections.open") {
        const answer = server?.open(headers.get("authorization") ?? "") ?? {};
        const seconds = server?.retryAfterSeconds;
        return seconds === undefined
          ? jsonAnswer(200, answer)
          : jsonAnswer(429, { ok: false, error: "ratelimited" }, { "retry-after": String(seconds) });
      }
      const passed = new Headers();
      for (const name of ["authorization", "content-type"]) {
        passed.set(name, headers.get(name) ?? "");
      }
      const url = new URL(path.replace(/^\/api\//, ""), apiUrl);
      const forwarded = await fetch(url, { method, headers: passed, body: new Uint8Array(body) });
      return jsonAnswer(forwarded.status, await forwarded.json());
    });
    server = new SocketModeServer(sockets, front);
    return server;
  }

  private constructor(sockets: WebSocketServer, front: FrontServer) {
    this.#sockets = sockets;
    this.#front = front;
    this.apiUrl = `${front.url}/api/`;
    sockets.on("connection", (socket) => {
      const end = new SocketConnectionEnd(socket);
      this.connections.push(end);
      socket.on("close", () => this.connections.splice(this.connections.indexOf(end), 1));
      if (!this.isMute) {
        end.send({ type: "hello", num_connections: 1, connection_info: { app_id: "A0ERRAND" } });
      }
    });
  }

  open(authorization: string): JsonRecord {
    this.opened += 1;
    if (authorization !== `Bearer ${this.appToken}`) {
      return { ok: false, error: "invalid_auth" };
    }
    if (this.refusal !== undefined) {
      return { ok: false, error: this.refusal };
    }
    const port = this.isUnreachable ? 1 : (this.#sockets.address() as AddressInfo).port;
    return { ok: true, url: `ws://127.0.0.1:${port}/link/?ticket=${randomUUID()}` };
  }

  /** Waits until exactly `count` connections are open, and returns the newest. */
  async connected(count = 1): Promise<SocketConnectionEnd> {
    await waitFor(() => this.connections.length === count, { what: `${count} connections` });
    return this.connections.at(-1) as SocketConnectionEnd;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) {
      socket.terminate();
    }
    this.#sockets.close();
    await this.#front?.stop();
  }
}

/** One connection of an app, as Slack sees it. */
export class SocketConnectionEnd {
  readonly socket: WebSocket;
  /** What the app acknowledged, in the order of arrival. */
  readonly acknowledged: JsonRecord[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (bytes) => this.acknowledged.push(asRecord(JSON.parse(bytes.toString()))));
  }

  send(message: JsonRecord | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Sends an envelope and returns its id. */
  deliver({
    acceptsResponse = false,
    attempt = 0,
    envelopeId = randomUUID(),
    ...rest
  }: SocketEnvelope): string {
    const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: "timeout" };
    this.send({ ...rest, ...retry, envelope_id: envelopeId, accepts_response_payload: acceptsResponse });
    return envelopeId;
  }

  acknowledgementOf(envelopeId: string): Promise<JsonRecord> {
    const find = () => this.acknowledged.find(({ envelope_id: id }) => id === envelopeId);
    return waitFor(find, { what: `the acknowledgement of ${envelopeId}` });
  }
}
