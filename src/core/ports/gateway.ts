import type { RunId } from "../basics/ids.ts";
import type { RepositoryName, TeamAccess } from "../model/repositories/repository-name.ts";

/** Opens gateways. The processes of an attempt can reach the outside only through their gateway. */
export interface Gateways {
  open(grant: GatewayGrant): Promise<Gateway>;
}

/** What the processes of one attempt may reach. Everything else is refused. */
export interface GatewayGrant extends TeamAccess {
  readonly runId: RunId;
  /** Each repository may be read. Those with `push` may also be pushed to. */
  readonly repositories: readonly RepositoryGrant[];
  /** Remote MCP servers by name, with their secrets filled in. */
  readonly mcpServers: Readonly<Record<string, RemoteMcpServer>>;
  /** `internet` adds every public address. Addresses inside the operator's network are always refused. */
  readonly network: "none" | "internet";
  /** Why a push to a repository is refused now. Asked at each push. */
  refusalOfPush?(repository: RepositoryName): Promise<string | undefined>;
  /** The run has a budget in dollars: models without a known price are refused. */
  readonly limitsCost?: boolean;
}

export interface RepositoryGrant extends RepositoryName {
  readonly push: boolean;
  /** Why nothing may be pushed, in a sentence. Default: the run must not push there. */
  readonly noPush?: string;
  /** Only branches that begin with one of these may be pushed. Absent: all. */
  readonly branchPrefixes?: readonly string[];
}

export interface RemoteMcpServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The secrets in the address. A response that repeats one is masked, as it is for the values of headers. */
  readonly urlSecrets?: readonly string[];
}

/** The only way out of an attempt's sandbox, from its preparation to its end. */
export interface Gateway {
  /**
   * `http://127.0.0.1:<port>/<token>`, as processes in the sandbox see it. Below it: `/models/…`, `/git/…`,
   * `/tools/<name>`.
   */
  readonly address: string;
  /** The proxy for `internet` addresses. Undefined when the grant does not include them. */
  readonly proxyUrl?: string;
  /** How a sandbox without a network reaches the gateway. Undefined: it uses the address directly. */
  readonly portForward?: PortForward;
  /** What passed through the gateway since it was opened. Each change calls `changed` of the watchers. */
  readonly traffic: GatewayTraffic;
  watch(changed: (traffic: GatewayTraffic) => void): () => void;
  /** Refuses model calls from now on with this message, and aborts the running ones. */
  shut(reason: string): void;
  /** Closes all connections. Can be repeated. */
  close(): Promise<void>;
}

/** How processes reach a gateway. */
export type GatewayAccess = Pick<Gateway, "address" | "portForward" | "proxyUrl">;

/** An address for a process that starts before its run is known. It refuses everything with 403 until then. */
export interface ReservedGateway extends Required<Pick<Gateway, "address" | "portForward">> {
  /** From now on the address leads to the gateway, with its grant and its limits. */
  giveTo(gateway: Gateway): void;
  close(): Promise<void>;
}

export interface ReservableGateways extends Gateways {
  /** Only for sandboxes with a loopback of their own. */
  reserve(): Promise<ReservedGateway>;
}

/** How processes of a sandbox reach the gateway, depending on whether they have a loopback of their own. */
export function gatewayConnection({
  address,
  portForward,
}: Pick<Gateway, "address" | "portForward">): { portForward: PortForward } | { hostPort: number } {
  return portForward === undefined ? { hostPort: Number(new URL(address).port) } : { portForward };
}

/** A port on the sandbox's own loopback that leads to a socket on the host. */
export interface PortForward {
  readonly socketPath: string;
  readonly port: number;
}

export interface GatewayTraffic {
  readonly models: ModelUsage;
  /** The last model error, unless a later call succeeded. */
  readonly modelFailure?: ModelFailure;
  /** Pushed branches in the order of their first push. Each branch is listed once. */
  readonly pushes: readonly PushedBranch[];
  /** The newest push to each repository that its host refused, unless the host accepted a later one. */
  readonly refusedPushes: readonly RefusedPush[];
}

/** As the responses of the models report it. */
export interface ModelUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** The cost of the calls whose price is known. */
  readonly costUsd: number;
}

export interface ModelFailure {
  /** The HTTP status. Undefined when the model was unreachable. */
  readonly status?: number;
  /** The model's error message, without keys. */
  readonly message: string;
  /** The gateway refused the call, because the price of the model is not known. */
  readonly isUnpriced?: boolean;
}

export interface RefusedPush extends RepositoryName {
  /** Why, in the words of the host. */
  readonly message: string;
}

export interface PushedBranch extends RepositoryName {
  readonly branch: string;
  readonly commit: string;
}
