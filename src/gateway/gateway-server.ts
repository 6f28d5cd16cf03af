import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import type { RunId } from "../core/basics/ids.ts";
import type { Log } from "../core/basics/log.ts";
import { type Call, type CallHandler, signalOf } from "./call.ts";
import { type Egress, refuseTunnel } from "./egress/egress.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { type GatewayToken, isOpenGit } from "./gateway-token.ts";
import { Refusal, sendRefusal } from "./refusal.ts";

export interface ServerOptions {
  readonly runId: RunId;
  readonly token: GatewayToken;
  /** By the first name in the path. */
  readonly parts: Readonly<Record<string, CallHandler>>;
  readonly git: CallHandler;
  /** The path below which the host has its repositories; empty for most hosts. */
  readonly gitPath: string;
  /** Set if only the processes of the attempt can reach the server. Then git needs no token for this host. */
  readonly openGitHost?: string;
  readonly egress: Egress;
  readonly limits: Pick<GatewayLimits, "connections" | "streamIdleMs">;
  readonly log: Log;
}

const HEADER_BYTES = 32 * 1_024;
const HEADERS_MS = 20_000;
const REQUEST_MS = 30 * 60_000;
const KEEP_ALIVE_MS = 2 * 60_000;
/** Longer than all other limits, so that those are reached first and give the reason. */
const GRACE_MS = 60_000;

const PATH = /^\/(?<token>[^/]+)\/(?<part>[a-z]+)(?<path>\/.*)?$/;
/** Servers interpret such paths in different ways, so the checked path could differ from the requested one. */
const TRICK = /(^|\/)\.{1,2}(\/|$)|\/\/|[\\#]|%(2e|2f|5c|00)/i;

/** The HTTP server of one attempt. Every client is untrusted. */
export class GatewayServer {
  readonly server: Server;
  readonly #options: ServerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  #calls = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    const limits = {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    this.server = createServer({ maxHeaderSize: HEADER_BYTES, ...limits });
    this.server.maxConnections = options.limits.connections;
    this.server.timeout = options.limits.streamIdleMs + GRACE_MS;
    this.server.on("connection", (socket) => this.#keep(socket));
    this.server.on("request", (request, response) => void this.#serve(request, response));
    this.server.on("connect", (request, socket, head) => void this.#tunnel(request, socket, head));
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await closed;
  }

  #keep(socket: Socket): void {
    // An address that was reserved for it may be open for a moment longer.
    if (this.#closing.signal.aborted) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A broken connection has no client to report to.
    response.on("error", () => undefined);
    const signal = signalOf(response, this.#closing.signal);
    this.#calls += 1;
    try {
      this.#refuseMore();
      refuseUpgrade(request);
      await this.#pass(request, response, signal);
    } catch (error) {
      sendRefusal(response, this.#refusalOf(error, signal));
    } finally {
      this.#calls -= 1;
    }
  }

  /** One connection can send many requests before it is answered, and each may open another connection. */
  #refuseMore(): void {
    if (this.#calls <= this.#options.limits.connections) {
      return;
    }
    throw new Refusal(429, "Too many requests at a time.", { "retry-after": "2" });
  }

  #pass(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const target = this.#targetOf(request);
    if (!target.startsWith("/")) {
      if (this.#isGit(request)) {
        return this.#passGit({ request, response, signal }, target);
      }
      this.#options.token.requireProxy(request);
      return this.#options.egress.pass({ request, response, signal }, target);
    }
    const { path: whole = "", query } = splitTarget(target);
    const { token, part = "", path = "" } = PATH.exec(whole)?.groups ?? {};
    this.#options.token.require(token);
    requirePlain(path);
    const serve = Object.hasOwn(this.#options.parts, part) ? this.#options.parts[part] : undefined;
    if (serve === undefined) {
      throw new Refusal(404, "The gateway serves /models, /git and /tools, and nothing else.");
    }
    return serve({ request, response, path, query, signal });
  }

  #isGit(request: IncomingMessage): boolean {
    const { openGitHost, token } = this.#options;
    return openGitHost === undefined ? token.isGit(request) : isOpenGit(request, openGitHost);
  }

  /** The host in the address is the one of all repositories, so only the path counts. */
  #passGit(call: Omit<Call, "path" | "query">, target: string): Promise<void> {
    const { path: whole = "", query } = splitTarget(target.replace(/^http:\/\/[^/?]*/i, ""));
    const { git, gitPath } = this.#options;
    requirePlain(whole);
    if (!whole.startsWith(`${gitPath}/`)) {
      throw new Refusal(404, "There is no repository at this address.");
    }
    return git({ ...call, path: whole.slice(gitPath.length), query });
  }

  /** Programs that send everything to their proxy also send requests for the gateway itself. */
  #targetOf({ headers: { host }, url = "" }: IncomingMessage): string {
    const own = `http://${host}/`;
    const isOwn = url.startsWith(own) && /^(127\.0\.0\.1|localhost):\d+$/.test(host ?? "");
    return isOwn && this.#options.token.isIn(url.slice(own.length)) ? url.slice(own.length - 1) : url;
  }

  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      this.#options.token.requireProxy(request);
      await this.#options.egress.tunnel(request.url ?? "", socket, head, this.#closing.signal);
    } catch (error) {
      refuseTunnel(socket, this.#refusalOf(error, this.#closing.signal));
    }
  }

  #refusalOf(error: unknown, signal: AbortSignal): Refusal {
    if (error instanceof Refusal) {
      return error;
    }
    // A call that the client or we have aborted ends without a report.
    const { log, runId } = this.#options;
    if (!signal.aborted) {
      log.error("gateway.call.failed", { runId, error });
    }
    return new Refusal(500, "The gateway failed.");
  }
}

function requirePlain(path: string): void {
  if (TRICK.test(path)) {
    throw new Refusal(400, "The path is not written in its plain form.");
  }
}

/** With status 426 agents continue without an upgrade. */
function refuseUpgrade({ headers }: IncomingMessage): void {
  if (!/websocket/i.test(headers.upgrade ?? "")) {
    return;
  }
  throw new Refusal(426, "WebSockets do not pass the gateway. Use HTTP.");
}

function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf("?");
  if (mark === -1) {
    return { path: target, query: "" };
  }
  return { path: target.slice(0, mark), query: target.slice(mark) };
}

/** Where a gateway listens. */
export interface Listener {
  /** The port that processes of the sandbox use. */
  readonly port: number;
  readonly socketPath?: string;
  remove(): Promise<void>;
}

/** The port inside the sandbox, below the range that systems use for outgoing connections. */
const SANDBOX_PORT = 21_721;
/** The limit for the path of a unix socket. macOS has the smallest one. */
const PATH_BYTES_MAX = 103;
const SOCKET = "s";

export async function listenOnPort(server: Server): Promise<Listener> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("The gateway has no port.");
  }
  return { port: address.port, remove: async () => undefined };
}

/**
 * Creates a directory for one socket, which the sandbox gets as a whole. Any user can enter it and use the socket,
 * because the user of a container differs. The directory above it keeps the other users of the machine out.
 */
export async function listenOnSocket(server: NetServer, root: string): Promise<Listener> {
  const directory = await makeDirectory(root);
  const socketPath = join(directory, "gw", SOCKET);
  await mkdir(dirname(socketPath));
  await chmod(dirname(socketPath), 0o711);
  server.listen(socketPath);
  await once(server, "listening");
  await chmod(socketPath, 0o666);
  return { port: SANDBOX_PORT, socketPath, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** Private to its owner. In another place if the path would be too long for a socket. */
async function makeDirectory(root: string): Promise<string> {
  const directory = join(root, randomBytes(4).toString("hex"));
  if (Buffer.byteLength(join(directory, "gw", SOCKET)) > PATH_BYTES_MAX) {
    return mkdtemp(join(tmpdir(), "errand-"));
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}
