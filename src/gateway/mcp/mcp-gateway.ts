import { defined } from "../../core/basics/defined.ts";
import type { RemoteMcpServer } from "../../core/ports/gateway.ts";
import { bodyOf, type Call, type CallHandler, hasBody } from "../call.ts";
import { forwardResponse } from "../forward-response.ts";
import type { GatewayLimits } from "../gateway-options.ts";
import { CREDENTIALS, RESPONSE_CREDENTIALS, without } from "../headers.ts";
import { KeyMask, keysIn, keysInUrl } from "../key-mask.ts";
import { Refusal } from "../refusal.ts";
import type { Upstream } from "../upstream.ts";

export interface McpGatewayOptions {
  readonly mcpServers: Readonly<Record<string, RemoteMcpServer>>;
  /** Connects to the allowed addresses of MCP servers. */
  readonly upstream: Upstream;
  readonly limits: Pick<GatewayLimits, "bodyBytes">;
}

const PATH = /^\/(?<name>[^/]+)(?<rest>\/.*)?$/;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** `/tools/<name>…`: forwards to a remote MCP server of the run and adds its credentials. */
export function createMcpGateway({ limits, mcpServers, upstream }: McpGatewayOptions): CallHandler {
  return async (call) => {
    const { name = "", rest = "" } = PATH.exec(call.path)?.groups ?? {};
    const server = serverOf(mcpServers, name);
    const method = call.request.method ?? "GET";
    if (!METHODS.has(method)) {
      throw new Refusal(405, "MCP servers do not support this method.");
    }
    const upstreamResponse = await upstream.send(
      defined({
        url: urlOf(server, rest, call.query),
        method,
        headers: headersFor(call, server),
        signal: call.signal,
        body: hasBody(call.request) ? bodyOf(call.request, limits.bodyBytes) : undefined,
      }),
    );
    if (upstreamResponse.status >= 300 && upstreamResponse.status < 400 && upstreamResponse.status !== 304) {
      upstreamResponse.body.on("error", () => undefined).destroy();
      throw new Refusal(
        502,
        `The MCP server redirects (HTTP ${upstreamResponse.status}). Redirects are not followed.`,
      );
    }
    const through = [new KeyMask([...keysIn(server.headers), ...keysInUrl(server.urlSecrets ?? [])])];
    await forwardResponse(upstreamResponse, call.response, { drop: RESPONSE_CREDENTIALS, through });
  };
}

function serverOf(servers: McpGatewayOptions["mcpServers"], encoded: string): RemoteMcpServer {
  const name = decoded(encoded);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server === undefined) {
    throw new Refusal(404, "This run has no remote MCP server of that name.");
  }
  return server;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The configured address with the path that the client appended. */
function urlOf({ url: base }: RemoteMcpServer, rest: string, query: string): URL {
  const url = new URL(base);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new Refusal(403, "The MCP server's address must begin with https://.");
  }
  url.pathname = rest === "" ? url.pathname : `${url.pathname.replace(/\/$/, "")}${rest}`;
  for (const [name, value] of new URLSearchParams(query)) {
    url.searchParams.append(name, value);
  }
  return url;
}

function headersFor({ request }: Call, { headers }: RemoteMcpServer): Record<string, string | string[]> {
  const configured = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const names = configured.map(([name]) => name);
  // A compressed response could not be searched for keys.
  const dropped = [...CREDENTIALS, ...names, "accept-encoding", "origin", "referer"];
  const kept = without(request.headers, dropped);
  return { ...kept, "accept-encoding": "identity", ...Object.fromEntries(configured) };
}
