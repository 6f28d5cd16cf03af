import type { ModelPrice, ModelProviders } from "../config/models.ts";
import type { Log } from "../core/ports/log.ts";
import type { TeamRepository } from "../core/repositories/repository-name.ts";
import type { Destinations } from "../network-policy/destinations.ts";
import type { Resolve } from "../network-policy/guarded-connector.ts";

export interface GatewayOptions {
  /** Whether the sandbox has no network: then gateways listen on unix sockets, else on ports of this machine. */
  readonly isolated: boolean;
  /** The sockets are below it. */
  readonly dataDir: string;
  readonly models: ModelProviders;
  readonly modelPrices: Readonly<Record<string, ModelPrice>>;
  /** Repositories are at `<gitUrl>/<owner>/<name>.git`. */
  readonly gitUrl: string;
  readonly authorize: AuthorizeRepository;
  /** Where tool servers may be, and what `internet` reaches. */
  readonly destinations: Destinations;
  /** Default: as the machine resolves names. */
  readonly resolve?: Resolve;
  /** Takes out every secret that is known. */
  readonly redact: (text: string) => string;
  readonly log: Log;
  readonly limits?: Partial<GatewayLimits>;
}

/** The value of the header `Authorization` for the team; undefined: as everybody, without one. Asked for each request. */
export type AuthorizeRepository = (
  repository: TeamRepository,
  url: string,
  access: "read" | "write",
) => Promise<string | undefined>;

export interface GatewayLimits {
  /** Connections of one sandbox, one more is closed; and its requests at a time, however few connections they come by. */
  readonly connections: number;
  /** Of other machines, that can be reached where there is a network. */
  readonly ports: readonly number[];
  /** Model calls of one sandbox at a time. */
  readonly modelCalls: number;
  /** Of a request to a model or a tool server. */
  readonly bodyBytes: number;
  /** Of a push, and of what is sent to the internet in one request. */
  readonly packBytes: number;
  /** What one gateway keeps of requests and answers that it has to read whole; larger ones pass unread. */
  readonly heldBytes: number;
  readonly connectMs: number;
  /** How long an upstream may think before its answer begins. */
  readonly answerMs: number;
  /** How long an upstream that has begun to answer may be silent. */
  readonly idleMs: number;
  /** The same for tool servers, whose event streams are open for as long as their clients, and for tunnels. */
  readonly streamIdleMs: number;
}

const MINUTE_MS = 60_000;
const MEBIBYTE = 2 ** 20;

export const DEFAULT_LIMITS: GatewayLimits = {
  connections: 200,
  // Not those of mail, shells and databases, which nobody there expects from here.
  ports: [80, 443, 8080, 8443],
  modelCalls: 32,
  bodyBytes: 64 * MEBIBYTE,
  packBytes: 2_048 * MEBIBYTE,
  heldBytes: 64 * MEBIBYTE,
  connectMs: 30_000,
  answerMs: 10 * MINUTE_MS,
  idleMs: 5 * MINUTE_MS,
  streamIdleMs: 15 * MINUTE_MS,
};
