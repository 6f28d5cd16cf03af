import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { buildConnector } from "undici";
import { bodyOf, type Call, hasBody } from "../call.ts";
import { forwardResponse } from "../forward-response.ts";
import type { GatewayLimits } from "../gateway-options.ts";
import { without } from "../headers.ts";
import { Refusal } from "../refusal.ts";
import { reasonOf, type Upstream } from "../upstream.ts";

/** Access to other addresses, for programs that use proxies. */
export interface Egress {
  pass(call: Pick<Call, "request" | "response" | "signal">, target: string): Promise<void>;
  tunnel(target: string, socket: Duplex, head: Buffer, closing: AbortSignal): Promise<void>;
}

export interface EgressOptions {
  /** Connects to an allowed address without HTTPS, because the sandbox itself speaks HTTPS through it. */
  readonly connect: buildConnector.connector;
  readonly upstream: Upstream;
  readonly limits: Pick<GatewayLimits, "packBytes" | "ports" | "streamIdleMs">;
}

const NO_NETWORK =
  "This sandbox reaches only the run's models, repositories and MCP servers. " +
  "The environment of the run can have the network `internet`.";

export const noEgress: Egress = {
  pass: () => Promise.reject(new Refusal(403, NO_NETWORK)),
  tunnel: () => Promise.reject(new Refusal(403, NO_NETWORK)),
};

export function createEgress({ connect, limits, upstream }: EgressOptions): Egress {
  return {
    async pass({ request, response, signal }, target) {
      const url = URL.parse(target);
      if (url?.protocol !== "http:") {
        throw new Refusal(400, "The address must begin with http://.");
      }
      requirePort(limits.ports, Number(url.port || "80"));
      const headers = without(request.headers, []);
      const body = hasBody(request) ? { body: bodyOf(request, limits.packBytes) } : {};
      const method = request.method ?? "GET";
      const upstreamResponse = await upstream.send({ url, method, headers, signal, ...body });
      await forwardResponse(upstreamResponse, response, { drop: [] });
    },
    async tunnel(target, socket, head, closing) {
      const { hostname, port } = authorityOf(target);
      requirePort(limits.ports, port);
      const far = await connected(connect, hostname, port);
      if (closing.aborted || socket.destroyed) {
        far.destroy();
        return;
      }
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      join(socket as Socket, far, limits.streamIdleMs);
      if (head.length > 0) {
        far.write(head);
      }
    },
  };
}

export function refuseTunnel(socket: Duplex, { headers, message, status }: Refusal): void {
  if (socket.destroyed) {
    return;
  }
  const fields = { ...headers, "content-type": "text/plain; charset=utf-8", connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${message}\n`);
}

const AUTHORITY = /^(?<hostname>\[[\da-f:.]+\]|[\w.-]+):(?<port>\d{1,5})$/i;

function authorityOf(target: string): { readonly hostname: string; readonly port: number } {
  const { hostname, port } = AUTHORITY.exec(target)?.groups ?? {};
  if (hostname === undefined) {
    throw new Refusal(400, "The address must be a host and a port.");
  }
  return { hostname, port: Number(port) };
}

function requirePort(ports: readonly number[], port: number): void {
  if (ports.includes(port)) {
    return;
  }
  throw new Refusal(403, `Only the ports ${ports.join(", ")} can be reached.`);
}

function connected(connect: buildConnector.connector, hostname: string, port: number): Promise<Socket> {
  const host = `${hostname}:${port}`;
  return new Promise((resolve, reject) => {
    connect({ hostname, host, protocol: "http:", port: String(port) }, (error, socket) => {
      if (error === null) {
        resolve(socket as Socket);
      } else {
        reject(new Refusal(...reasonOf(error)));
      }
    });
  });
}

/** Each socket ends with the other, and both end when nothing moves. */
function join(one: Socket, other: Socket, idleMs: number): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.setTimeout(idleMs, () => from.destroy());
    from.on("error", () => from.destroy());
    from.once("close", () => to.destroy());
    from.pipe(to);
  }
}
