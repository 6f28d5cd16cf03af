import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { AgentCatalogueView } from "../core/agents/agent-catalogue.ts";
import type { Doctor } from "../core/doctor/doctor.ts";
import type { StoredBytes } from "../core/doctor/stored-bytes.ts";
import type { InstallationGuide } from "../core/people/installation-guide.ts";
import type { SignInProvider } from "../core/people/sign-in-provider.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { PubSub } from "../core/ports/pubsub.ts";
import type { PullRequestReader } from "../core/pull-requests/pull-request-reader.ts";
import type { RunService } from "../core/runs/run-service.ts";
import type { NextDue } from "../core/schedules/cron.ts";
import type { SecretBox } from "../core/secrets/secret-box.ts";
import type { SkillCatalogue } from "../core/skills/skill-catalogue.ts";
import type { Storage } from "../core/storage.ts";
import type { WebhookClient } from "../core/webhooks/webhook-client.ts";
import type { Capacity } from "../core/workers/capacity.ts";
import type { KeyHasher } from "./auth/api-keys.ts";
import type { PrincipalCache } from "./auth/principal-cache.ts";

/** The dependencies of the HTTP side. Only the composition root builds them. */
export interface ApiDeps {
  readonly runs: RunService;
  readonly skills: Pick<SkillCatalogue, "list">;
  readonly catalogue: AgentCatalogueView;
  readonly doctor: Pick<Doctor, "examine">;
  readonly installationGuides: () => Promise<readonly InstallationGuide[]>;
  readonly storage: Storage;
  /** As measured in the last minute. */
  readonly storedBytes: () => Promise<StoredBytes>;
  readonly capacity: Pick<Capacity, "look">;
  readonly principals: Pick<PrincipalCache, "getMany" | "listTeam">;
  readonly pullRequests: Pick<PullRequestReader, "refresh">;
  readonly blobs: Pick<BlobStore, "put" | "read">;
  readonly secrets: SecretBox;
  /** The registries from which workers pull images. */
  readonly imageRegistries: readonly string[];
  readonly webhookClient: Pick<WebhookClient, "problemOf">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly nextDue: NextDue;
  readonly log: Logger;
  /** Computes the stored form of API keys and of the tokens of share links. */
  readonly hashKey: KeyHasher;
  /** Compute that form under earlier secret keys of this server, which are still accepted. */
  readonly formerHashers: readonly KeyHasher[];
  /** Signs the pages' cookies and the cursors. It is the same in all processes. */
  readonly sessionSecret: string;
  /** A function, because a server on a free port knows its URL only when it listens. */
  readonly publicUrl: () => string;
  /** The systems outside that people can sign in with, in the order of the page. */
  readonly signInProviders: readonly SignInProvider[];
  /** What a person reads who may not sign in. */
  readonly signInHelp: string;
  /** Returns undefined if the process is ready for work, otherwise the reason. */
  readonly ready: () => Promise<string | undefined>;
  /** The proof that this server wrote its data directory; undefined until it listens. */
  readonly proveServer: (nonce: string) => string | undefined;
  /** Fires when the process is about to stop, and still answers for a while. Undefined: it stops without notice. */
  readonly draining?: AbortSignal;
  /** A worker without the API serves only its health. */
  readonly serves: "everything" | "health";
  /**
   * The number of the operator's proxies in front of the server. The address that the outermost proxy reports is
   * trusted.
   */
  readonly trustProxy: number | false;
  /** PEM texts. undefined: a proxy terminates HTTPS, or HTTPS is not used. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** The web routes of the adapters. They parse their own bodies, because signatures cover the raw bytes. */
  readonly adapterRoutes: readonly FastifyPluginAsync[];
  /** The operator's limits. Tests also set the fixed limits. */
  readonly limits: OperatorLimits & Partial<FixedLimits>;
}

/** The defaults are those of the environment variables. */
export interface OperatorLimits {
  readonly bodyBytes: number;
  readonly promptBytes: number;
  /** In characters as people count them, not in UTF-16 units. */
  readonly titleLength: number;
  readonly basePromptBytes: number;
  readonly configBytes: number;
  /** Decoded bytes of one attachment or image, and of all of one request together. */
  readonly attachmentBytes: number;
  readonly attachmentsBytes: number;
  /** Requests per window and principal, or per address if there is no key. 0: no limit. */
  readonly rateLimit: number;
  /** Open streams per principal in one process. 0: no limit. */
  readonly streamsPerPrincipal: number;
}

export interface FixedLimits {
  /** The time within which a caller must send its headers, and its whole request. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often the two timeouts above are checked. */
  readonly timeoutCheckMs: number;
  /** An idle connection is closed after this time. It must be longer than the streams' heartbeat. */
  readonly connectionTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly rateWindowMs: number;
  readonly heartbeatMs: number;
  /** How often a stream checks its caller even without a notification, because notifications can be lost. */
  readonly callerCheckMs: number;
  /** How often a stream reads the log even without a notification, because notifications can be lost. */
  readonly pollMs: number;
  /** How much a stream buffers for a slow reader, and how long it waits until the buffer shrinks. */
  readonly streamBufferBytes: number;
  readonly streamStallMs: number;
  /** How much the responses of one caller take until they are sent, in characters. */
  readonly unreadResponses: number;
  /** How much the bodies of one caller's requests take until they are answered. */
  readonly unansweredBodies: number;
  /** Failed sign-ins per minute and address. */
  readonly failedSignIns: number;
}

export type ApiLimits = OperatorLimits & FixedLimits;

export const FIXED_LIMITS: FixedLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  timeoutCheckMs: 5_000,
  connectionTimeoutMs: 120_000,
  keepAliveMs: 72_000,
  rateWindowMs: 60_000,
  heartbeatMs: 15_000,
  callerCheckMs: 2_000,
  pollMs: 1_000,
  streamBufferBytes: 2 ** 20,
  streamStallMs: 30_000,
  unreadResponses: 64 * 2 ** 20,
  unansweredBodies: 64 * 2 ** 20,
  failedSignIns: 10,
};

export function limitsOf({ limits }: Pick<ApiDeps, "limits">): ApiLimits {
  return { ...FIXED_LIMITS, ...limits };
}
