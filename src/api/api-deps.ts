import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { AgentCatalogueView } from "../core/agents/agent-catalogue.ts";
import type { Doctor } from "../core/doctor/doctor.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { PubSub } from "../core/ports/pubsub.ts";
import type { RunService } from "../core/runs/run-service.ts";
import type { NextDue } from "../core/schedules/cron.ts";
import type { SecretBox } from "../core/secrets/secret-box.ts";
import type { SkillCatalogue } from "../core/skills/skill-catalogue.ts";
import type { Storage } from "../core/storage.ts";
import type { WebhookClient } from "../core/webhooks/webhook-client.ts";
import type { KeyHasher } from "./auth/api-keys.ts";
import type { PrincipalCache } from "./auth/principal-cache.ts";

/** All that the HTTP side stands on; put together by the composition alone. */
export interface ApiDeps {
  readonly runs: RunService;
  readonly skills: Pick<SkillCatalogue, "list">;
  readonly catalogue: AgentCatalogueView;
  readonly doctor: Pick<Doctor, "examine">;
  readonly storage: Storage;
  readonly principals: Pick<PrincipalCache, "getMany">;
  readonly blobs: Pick<BlobStore, "put" | "read">;
  readonly secrets: SecretBox;
  readonly webhookClient: Pick<WebhookClient, "problemOf">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly nextDue: NextDue;
  readonly log: Logger;
  /** The form in which API keys and the tokens of share links are stored. */
  readonly hashKey: KeyHasher;
  /** The same under earlier secrets of the installation, which still open. */
  readonly formerHashers: readonly KeyHasher[];
  /** Signs the pages' cookies and the cursors; the same in all processes. */
  readonly sessionSecret: string;
  /** Asked late: on a free port nobody knows it before the server listens. */
  readonly publicUrl: () => string;
  /** undefined: ready for work; else the reason why not. */
  readonly ready: () => Promise<string | undefined>;
  /** A worker without the API answers for its health alone. */
  readonly serves: "everything" | "health";
  /** How many proxies of the operator's stand before us: what the farthest of them says of its caller is believed. */
  readonly trustProxy: number | false;
  /** PEM texts; undefined: HTTPS is spoken by a proxy before us, or not at all. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Each adapter's own web routes. They parse their bodies themselves: signatures hold on raw bytes. */
  readonly adapterRoutes: readonly FastifyPluginAsync[];
  /** What the operator has set; tests set the others too. */
  readonly limits: OperatorLimits & Partial<FixedLimits>;
}

/** Their defaults are those of the variables. */
export interface OperatorLimits {
  readonly bodyBytes: number;
  readonly promptBytes: number;
  /** In characters, as people count them. */
  readonly titleLength: number;
  readonly basePromptBytes: number;
  readonly configBytes: number;
  /** Of one attachment or image, and of all of a request together, decoded. */
  readonly attachmentBytes: number;
  readonly attachmentsBytes: number;
  /** Requests in each window, of a key or, without one, of an address. 0: any number. */
  readonly rateLimit: number;
  /** Open at once, in one process. 0: any number. */
  readonly streamsPerKey: number;
}

export interface FixedLimits {
  /** A caller has this long to send its headers, and its whole request. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often those two are looked at. */
  readonly timeoutCheckMs: number;
  /** A connection on which nothing moves is closed after this long. Longer than the streams' heartbeat. */
  readonly connectionTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly rateWindowMs: number;
  readonly heartbeatMs: number;
  /** How often a stream looks into the log by itself, in case news was lost. */
  readonly pollMs: number;
  /** What a stream holds for a reader that does not read, and how long it waits for that to move. */
  readonly streamBufferBytes: number;
  readonly streamStallMs: number;
  /** Failed sign-ins a minute and address. */
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
  pollMs: 1_000,
  streamBufferBytes: 2 ** 20,
  streamStallMs: 30_000,
  failedSignIns: 10,
};

export function limitsOf({ limits }: Pick<ApiDeps, "limits">): ApiLimits {
  return { ...FIXED_LIMITS, ...limits };
}
