import type { ModelPrice, ModelProviders } from "../config/models.ts";
import { MEBIBYTE } from "../core/basics/byte-units.ts";
import type { Log } from "../core/basics/log.ts";
import type { TeamRepository } from "../core/model/repositories/repository-name.ts";
import type { Destinations } from "../outgoing/destinations.ts";
import type { Resolve } from "../outgoing/guarded-connector.ts";

export interface GatewayOptions {
  /**
   * Whether the sandbox has a loopback of its own. Then gateways listen on unix sockets, otherwise on ports of this
   * machine.
   */
  readonly isolated: boolean;
  /** The sockets are below it. */
  readonly dataDir: string;
  readonly models: ModelProviders;
  readonly modelPrices: Readonly<Record<string, ModelPrice>>;
  /** Repositories are at `<gitUrl>/<owner>/<name>.git`. */
  readonly gitUrl: string;
  readonly authorize: AuthorizeRepository;
  /** The allowed addresses of MCP servers and of `internet`. */
  readonly destinations: Destinations;
  /** Default: the resolver of the machine. */
  readonly resolve?: Resolve;
  /** Removes every known secret. */
  readonly redact: (text: string) => string;
  readonly log: Log;
  readonly limits?: Partial<GatewayLimits>;
}

/** The value of the header `Authorization` for the team; undefined: anonymous. Called for each request. */
export type AuthorizeRepository = (
  repository: TeamRepository,
  url: string,
  access: "read" | "write",
) => Promise<string | undefined>;

export interface GatewayLimits {
  /** The limit of connections of one sandbox, and of its concurrent requests, however few connections carry them. */
  readonly connections: number;
  /** Ports of other machines that can be reached with network access. */
  readonly ports: readonly number[];
  /** Concurrent model calls of one sandbox. */
  readonly modelCalls: number;
  /** The limit of a request to a model or an MCP server. */
  readonly bodyBytes: number;
  /** The limit of a push, and of one request to the internet. */
  readonly packBytes: number;
  /** The large files (Git LFS) of one attempt, all together. */
  readonly lfsBytes: number;
  /** The memory of one gateway for requests and responses that it must read as a whole. Larger ones pass unread. */
  readonly bufferedBytes: number;
  readonly connectMs: number;
  /** How long an upstream may take until its response begins. */
  readonly responseMs: number;
  /** How long an upstream may be silent during its response. */
  readonly idleMs: number;
  /** The same for MCP servers, whose event streams stay open, and for tunnels. */
  readonly streamIdleMs: number;
}

const MINUTE_MS = 60_000;

export const DEFAULT_LIMITS: GatewayLimits = {
  connections: 200,
  // Without those of mail, shells and databases, whose servers do not expect agents.
  ports: [80, 443, 8080, 8443],
  modelCalls: 32,
  bodyBytes: 64 * MEBIBYTE,
  packBytes: 2_048 * MEBIBYTE,
  lfsBytes: 10_240 * MEBIBYTE,
  bufferedBytes: 64 * MEBIBYTE,
  connectMs: 30_000,
  responseMs: 10 * MINUTE_MS,
  idleMs: 5 * MINUTE_MS,
  streamIdleMs: 15 * MINUTE_MS,
};
