import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newId, type RunId, type TeamId } from "../../src/core/basics/ids.ts";
import type { Gateway, GatewayGrant } from "../../src/core/ports/gateway.ts";
import { createGateways } from "../../src/gateway/create-gateways.ts";
import type { GatewayOptions } from "../../src/gateway/gateway-options.ts";
import { parseAllowList } from "../../src/outgoing/allow-list.ts";
import { Destinations } from "../../src/outgoing/destinations.ts";

export interface GatewayHarness {
  readonly gateway: Gateway;
  readonly dataDir: string;
  /** What was logged, as JSON lines. */
  readonly logged: string[];
  /** Closes the gateway and removes its data directory. */
  close(): Promise<void>;
}

export interface GatewayHarnessOptions extends Partial<GatewayOptions> {
  /** The operator's allow list: addresses and names that are permitted in addition to public ones. */
  readonly allow?: string;
  readonly grant?: Partial<GatewayGrant>;
}

/** Opens a real gateway, on a loopback port unless `isolated`. It grants and configures only what the options contain. */
export async function openGateway({
  allow = "",
  grant,
  ...options
}: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const dataDir = await mkdtemp(join(tmpdir(), "errand-gateway-"));
  const logged: string[] = [];
  const note = (message: string, facts?: object) => void logged.push(`${message} ${JSON.stringify(facts)}`);
  const gateways = createGateways({
    isolated: false,
    dataDir,
    models: {},
    modelPrices: {},
    gitUrl: "http://127.0.0.1:9",
    authorize: async () => undefined,
    destinations: new Destinations(parseAllowList(allow)),
    redact: (text) => text,
    log: { info: note, warn: note, error: note },
    ...options,
  });
  const gateway = await gateways.open(aGrant(grant));
  return {
    gateway,
    dataDir,
    logged,
    async close() {
      await gateway.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export function aGrant(own: Partial<GatewayGrant> = {}): GatewayGrant {
  return {
    runId: newId<RunId>(new Date()),
    teamId: "7e0d0000-0000-7000-8000-000000000001" as TeamId,
    repositories: [],
    mcpServers: {},
    network: "none",
    ...own,
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Sends a request with an unchanged path, which `fetch` would normalize. It also works through a port forward. */
export async function requestRaw(
  gateway: Gateway,
  path: string,
  { body = "", headers = {}, method = "GET" } = {},
): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(gateway.address);
  const place =
    gateway.portForward === undefined ? { hostname, port } : { socketPath: gateway.portForward.socketPath };
  const whole = path.startsWith("/") ? `${pathname}${path}` : path;
  const length =
    body === "" || "transfer-encoding" in headers ? {} : { "content-length": Buffer.byteLength(body) };
  const asked = request({ ...place, path: whole, method, headers: { ...length, ...headers }, agent: false });
  const { promise, reject, resolve } = Promise.withResolvers<RawAnswer>();
  asked.on("error", reject);
  asked.on("response", (answer) => {
    const { headers, statusCode = 0 } = answer;
    text(answer).then((body) => resolve({ status: statusCode, headers, body }), reject);
  });
  asked.end(body);
  return promise;
}
