import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { PortForward } from "../core/ports/gateway.ts";
import { type Listener, listenOnSocket } from "./gateway-server.ts";
import { GatewayToken } from "./gateway-token.ts";
import { Refusal, sendRefusal } from "./refusal.ts";

const NO_RUN = new Refusal(403, "No run uses this address yet.");

/**
 * An address that a process in a sandbox gets before it is known for which run it will work. Every request is refused with
 * 403 until a gateway takes the address. What was connected until then is disconnected.
 */
export class ReservedAddress {
  readonly token = new GatewayToken();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #refusing = createHttpServer((_, response) => sendRefusal(response, NO_RUN));
  #listener: Listener | undefined;
  #serving: HttpServer = this.#refusing;

  private constructor(connectionsMax: number) {
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = connectionsMax;
  }

  static async open(root: string, connectionsMax: number): Promise<ReservedAddress> {
    const reserved = new ReservedAddress(connectionsMax);
    reserved.#listener = await listenOnSocket(reserved.#server, root);
    return reserved;
  }

  get address(): string {
    return `http://127.0.0.1:${this.portForward.port}/${this.token.text}`;
  }

  get portForward(): PortForward {
    const { port = 0, socketPath = "" } = this.#listener ?? {};
    return { port, socketPath };
  }

  serve(server: HttpServer): void {
    this.#disconnect();
    this.#serving = server;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#disconnect();
    await closed;
    await this.#listener?.remove();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#serving.emit("connection", socket);
  }

  #disconnect(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }
}
