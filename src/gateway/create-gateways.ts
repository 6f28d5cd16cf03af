import { rm } from "node:fs/promises";
import type { Server as HttpServer } from "node:http";
import { join } from "node:path";
import { defined } from "../core/basics/defined.ts";
import type { Gateway, GatewayGrant, ReservableGateways, ReservedGateway } from "../core/ports/gateway.ts";
import type { Destinations } from "../outgoing/destinations.ts";
import { createGuardedConnector } from "../outgoing/guarded-connector.ts";
import { isOwnAddress } from "../outgoing/own-addresses.ts";
import type { CallHandler } from "./call.ts";
import { createEgress, noEgress } from "./egress/egress.ts";
import { DEFAULT_LIMITS, type GatewayLimits, type GatewayOptions } from "./gateway-options.ts";
import { GatewayServer, type Listener, listenOnPort, listenOnSocket } from "./gateway-server.ts";
import { GatewayToken } from "./gateway-token.ts";
import { createGitGateway } from "./git/git-gateway.ts";
import { createMcpGateway } from "./mcp/mcp-gateway.ts";
import { BufferLimit } from "./models/model-call.ts";
import { ModelGateway } from "./models/model-gateway.ts";
import { ReservedAddress } from "./reserved-address.ts";
import { Traffic } from "./traffic.ts";
import { Upstream, type UpstreamOptions } from "./upstream.ts";

/** What is behind each gateway, for the addresses that it gets later. */
type Endpoints = WeakMap<Gateway, { readonly server: HttpServer; readonly token: GatewayToken }>;

/** Creates the gateways of this process, which does not share its data directory. */
export function createGateways(options: GatewayOptions): ReservableGateways {
  const root = join(options.dataDir, "gw");
  const endpoints: Endpoints = new WeakMap();
  let emptied: Promise<void> | undefined;
  const empty = () => {
    // Removes what a killed process left there.
    emptied ??= rm(root, { recursive: true, force: true });
    return emptied;
  };
  return {
    async open(grant) {
      await empty();
      return openGateway(options, grant, root, endpoints);
    },
    async reserve() {
      await empty();
      return reserve(options, root, endpoints);
    },
  };
}

async function reserve(
  { limits }: GatewayOptions,
  root: string,
  endpoints: Endpoints,
): Promise<ReservedGateway> {
  const { connections } = { ...DEFAULT_LIMITS, ...limits };
  const reserved = await ReservedAddress.open(root, connections);
  return {
    address: reserved.address,
    portForward: reserved.portForward,
    giveTo(gateway) {
      const endpoint = endpoints.get(gateway);
      if (endpoint === undefined) {
        throw new Error("The gateway is not one of these.");
      }
      endpoint.token.accept(reserved.token);
      reserved.serve(endpoint.server);
    },
    close: () => reserved.close(),
  };
}

async function openGateway(
  options: GatewayOptions,
  grant: GatewayGrant,
  root: string,
  endpoints: Endpoints,
): Promise<Gateway> {
  const token = new GatewayToken();
  const traffic = new Traffic();
  const { close, models, server } = assemble(options, grant, token, traffic);
  const listener = await (options.isolated
    ? listenOnSocket(server.server, root)
    : listenOnPort(server.server));
  const host = `127.0.0.1:${listener.port}`;
  let closed: Promise<void> | undefined;
  const gateway: Gateway = {
    address: `http://${host}/${token.text}`,
    ...defined({ proxyUrl: grant.network === "internet" ? `http://${token.userInfo}@${host}` : undefined }),
    ...portForwardOf(listener),
    get traffic() {
      return traffic.current;
    },
    watch: (changed) => traffic.watch(changed),
    shut: (reason) => models().shut(reason),
    close() {
      closed ??= close().then(() => listener.remove());
      return closed;
    },
  };
  endpoints.set(gateway, { server: server.server, token });
  return gateway;
}

/** Most attempts use only some of the parts, so each is made for its first call. */
function assemble(options: GatewayOptions, grant: GatewayGrant, token: GatewayToken, traffic: Traffic) {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { authorize, gitUrl, log, modelPrices: prices, models: config, redact } = options;
  const { closeUpstreams, connect, internet, tools: toTools, trusted } = upstreamsOf(options, limits);
  const models = lazy(() => {
    const buffers = new BufferLimit(limits.bufferedBytes);
    const limitsCost = grant.limitsCost === true;
    const upstream = trusted();
    return new ModelGateway({
      models: config,
      prices,
      upstream,
      traffic,
      buffers,
      redact,
      limits,
      limitsCost,
    });
  });
  const toHost = lazy(() => {
    const links = { upstream: trusted(), egress: internet(), storage: toTools };
    return createGitGateway({ grant, gitUrl, authorize, ...links, traffic, limits, log });
  });
  const tools = lazy(() => createMcpGateway({ mcpServers: grant.mcpServers, upstream: toTools(), limits }));
  const git: CallHandler = (call) => toHost()(call);
  const hasInternet = grant.network === "internet";
  const server = new GatewayServer({
    runId: grant.runId,
    token,
    parts: { models: (call) => models().serve(call), git, tools: (call) => tools()(call) },
    git,
    gitPath: new URL(gitUrl).pathname.replace(/\/$/, ""),
    egress: hasInternet ? createEgress({ connect: connect(), upstream: internet(), limits }) : noEgress,
    limits,
    log,
    ...defined({ openGitHost: options.isolated ? new URL(gitUrl).host : undefined }),
  });
  const close = async () => {
    await server.close();
    await closeUpstreams();
  };
  return { server, models, close };
}

/** The connections of a gateway: to addresses of the operator (`trusted`), to MCP servers, and to the internet. */
function upstreamsOf({ destinations, resolve }: GatewayOptions, limits: GatewayLimits) {
  const made: Upstream[] = [];
  const upstreamOf = (options: UpstreamOptions) => {
    const upstream = new Upstream(options);
    made.push(upstream);
    return upstream;
  };
  const slow = { ...limits, idleMs: limits.streamIdleMs };
  const { connectMs } = limits;
  const others = notThisMachine(destinations);
  const connectorTo = (allowed: Admission) =>
    createGuardedConnector(defined({ connectMs, resolve, destinations: allowed }));
  const connect = lazy(() => connectorTo(publicInAnyWay(others)));
  return {
    trusted: lazy(() => upstreamOf(limits)),
    tools: lazy(() => upstreamOf({ ...slow, connect: connectorTo(others) })),
    internet: lazy(() => upstreamOf({ ...slow, connect: connect() })),
    connect,
    closeUpstreams: () => Promise.all(made.map((upstream) => upstream.close())),
  };
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

type Admission = Pick<Destinations, "admits">;

/** Public addresses of this machine would bypass its firewall. The operator can allow them. */
function notThisMachine(destinations: Admission): Admission {
  return {
    admits: (destination) => {
      const isOwn = isOwnAddress(destination.address);
      // Without HTTPS only addresses that the operator allows remain.
      return destinations.admits(isOwn ? { ...destination, isEncrypted: false } : destination);
    },
  };
}

/** A sandbox with network access may send its own data unencrypted. */
function publicInAnyWay(destinations: Admission): Admission {
  return { admits: (destination) => destinations.admits({ ...destination, isEncrypted: true }) };
}

function portForwardOf({ port, socketPath }: Listener): Pick<Gateway, "portForward"> {
  return socketPath === undefined ? {} : { portForward: { socketPath, port } };
}
