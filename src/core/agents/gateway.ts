import type { RunId, TeamId } from "../ids.ts";
import type { RepositoryName } from "../repositories/repository-name.ts";

/** The way out of the sandbox: all that the processes of an attempt reach of the world, they reach through its gateway. */
export interface Gateways {
  open(grant: GatewayGrant): Promise<Gateway>;
}

/** What one attempt's processes may reach. Everything else is refused. */
export interface GatewayGrant {
  readonly runId: RunId;
  readonly teamId: TeamId;
  /** Each may be read; those with `push` may be pushed to as well. */
  readonly repositories: readonly RepositoryGrant[];
  /** Remote tool servers by their names, with their secrets filled in. */
  readonly mcpServers: Readonly<Record<string, RemoteMcpServer>>;
  /** `internet`: every public address too. Addresses inside the operator's network are refused all the same. */
  readonly network: "none" | "internet";
}

export interface RepositoryGrant extends RepositoryName {
  readonly push: boolean;
}

export interface RemoteMcpServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The one way out of an attempt's sandbox, open from its preparation to its end. */
export interface Gateway {
  /** `http://127.0.0.1:<port>/<token>`, as processes inside see it. Below it: `/models/…`, `/git/…`, `/tools/<name>`. */
  readonly address: string;
  /** For programs that know proxies, the way to `internet` addresses; undefined when the grant has none. */
  readonly proxyUrl?: string;
  /** How a sandbox without a network leads to it. Undefined: the address is reached as it is. */
  readonly portForward?: Door;
  /** What went through it since it was opened. Calls `changed` of the watchers at each change. */
  readonly traffic: GatewayTraffic;
  watch(changed: (traffic: GatewayTraffic) => void): () => void;
  /** From now on model calls are refused with this message; those that run are cut. */
  shut(reason: string): void;
  /** Ends every connection. Repeatable. */
  close(): Promise<void>;
}

/** A port of the sandbox's own loopback that leads to a socket on the host. */
export interface Door {
  readonly socketPath: string;
  readonly port: number;
}

export interface GatewayTraffic {
  readonly models: ModelUsage;
  /** The last answer of a model when that was an error, after which none was good. */
  readonly modelFailure?: ModelFailure;
  /** In the order in which they were pushed; a branch is named once. */
  readonly pushes: readonly PushedBranch[];
}

/** As the models' own answers tell it. */
export interface ModelUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of the calls whose price is known. */
  readonly costUsd: number;
}

export interface ModelFailure {
  /** HTTP's; undefined when the model could not be reached. */
  readonly status?: number;
  /** What the model's answer said, without keys. */
  readonly message: string;
}

export interface PushedBranch extends RepositoryName {
  readonly branch: string;
  readonly commit: string;
}
