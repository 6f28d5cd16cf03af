import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../core/basics/defined.ts";
import type { Gateway, GatewayGrant, Gateways } from "../core/ports/gateway.ts";
import type { Destinations } from "../outgoing/destinations.ts";
import { createGuardedConnector } from "../outgoing/guarded-connector.ts";
import { isOwnAddress } from "../outgoing/own-addresses.ts";
import { createEgress, noEgress } from "./egress/egress.ts";
import { DEFAULT_LIMITS, type GatewayLimits, type GatewayOptions } from "./gateway-options.ts";
import { GatewayServer, type ListeningPlace, listenOnPort, listenOnSocket } from "./gateway-server.ts";
import { GatewayToken } from "./gateway-token.ts";
import { createGitGateway } from "./git/git-gateway.ts";
import { createMcpGateway } from "./mcp/mcp-gateway.ts";
import { HeldBytes } from "./models/model-call.ts";
import { ModelGateway } from "./models/model-gateway.ts";
import { Traffic } from "./traffic.ts";
import { Upstream } from "./upstream.ts";

/** Creates the gateways of this process, which does not share its data directory. */
export function createGateways(options: GatewayOptions): Gateways {
  const root = join(options.dataDir, "gw");
  let emptied: Promise<void> | undefined;
  return {
    async open(grant) {
      // Removes what a killed process left there.
      emptied ??= rm(root, { recursive: true, force: true });
      await emptied;
      return openGateway(options, grant, root);
    },
  };
}

interface Opened {
  readonly server: GatewayServer;
  readonly models: ModelGateway;
  readonly upstreams: readonly Upstream[];
}

async function openGateway(options: GatewayOptions, grant: GatewayGrant, root: string): Promise<Gateway> {
  const token = new GatewayToken();
  const traffic = new Traffic();
  const { models, server, upstreams } = assemble(options, grant, token, traffic);
  const place = await (options.isolated ? listenOnSocket(server.server, root) : listenOnPort(server.server));
  const host = `127.0.0.1:${place.port}`;
  let closed: Promise<void> | undefined;
  return {
    address: `http://${host}/${token.text}`,
    ...defined({ proxyUrl: grant.network === "internet" ? `http://${token.userInfo}@${host}` : undefined }),
    ...portForwardOf(place),
    get traffic() {
      return traffic.current;
    },
    watch: (changed) => traffic.watch(changed),
    shut: (reason) => models.shut(reason),
    close() {
      closed ??= closeAll(server, upstreams, place);
      return closed;
    },
  };
}

function assemble(
  options: GatewayOptions,
  grant: GatewayGrant,
  token: GatewayToken,
  traffic: Traffic,
): Opened {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { authorize, gitUrl, log, modelPrices: prices, models: config, redact } = options;
  const trusted = new Upstream(limits);
  const guarded = guardedUpstreams(options, limits);
  const held = new HeldBytes(limits.heldBytes);
  const models = new ModelGateway({
    models: config,
    prices,
    upstream: trusted,
    traffic,
    held,
    redact,
    limits,
    limitsCost: grant.limitsCost === true,
  });
  const links = { upstream: trusted, egress: guarded.internet };
  const git = createGitGateway({ grant, gitUrl, authorize, ...links, traffic, limits, log });
  const gitPath = new URL(gitUrl).pathname.replace(/\/$/, "");
  const parts = {
    models: models.serve,
    git,
    tools: createMcpGateway({ mcpServers: grant.mcpServers, upstream: guarded.tools, limits }),
  };
  const { connect, internet: upstream } = guarded;
  const egress = grant.network === "internet" ? createEgress({ connect, upstream, limits }) : noEgress;
  const server = new GatewayServer({
    runId: grant.runId,
    token,
    parts,
    git,
    gitPath,
    egress,
    limits,
    log,
    ...defined({ openGitHost: options.isolated ? new URL(gitUrl).host : undefined }),
  });
  return { server, models, upstreams: [trusted, guarded.tools, guarded.internet] };
}

function guardedUpstreams({ destinations, ...options }: GatewayOptions, limits: GatewayLimits) {
  const resolving = options.resolve === undefined ? {} : { resolve: options.resolve };
  const { connectMs, streamIdleMs } = limits;
  const guard = { connectMs, ...resolving };
  const others = notThisMachine(destinations);
  const slow = { ...limits, idleMs: streamIdleMs };
  const connect = createGuardedConnector({ ...guard, destinations: publicInAnyWay(others) });
  return {
    connect,
    internet: new Upstream({ ...slow, connect }),
    tools: new Upstream({ ...slow, connect: createGuardedConnector({ ...guard, destinations: others }) }),
  };
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

function portForwardOf({ port, socketPath }: ListeningPlace): Pick<Gateway, "portForward"> {
  return socketPath === undefined ? {} : { portForward: { socketPath, port } };
}

async function closeAll(
  server: GatewayServer,
  upstreams: readonly Upstream[],
  place: ListeningPlace,
): Promise<void> {
  await server.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
  await place.remove();
}
