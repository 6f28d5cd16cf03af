import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "../core/basics/clock.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import type { InstallationGuide } from "../core/model/people/installation.ts";
import type { NextDue } from "../core/model/schedules/schedule.ts";
import type { AgentCatalogueView } from "../core/ports/agent-catalogue.ts";
import type { AppCreator } from "../core/ports/app-creator.ts";
import type { AppInstaller } from "../core/ports/app-installer.ts";
import type { AppManager } from "../core/ports/app-manager.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { PubSub } from "../core/ports/pubsub.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { AdapterSettings } from "../core/ports/stores/adapter-settings.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import type { WebhookClient } from "../core/ports/webhook-client.ts";
import type { WorkflowTokens } from "../core/ports/workflow-tokens.ts";
import type { PullRequestReader } from "../core/requests/pull-request-reader.ts";
import type { RunService } from "../core/requests/run-service.ts";
import type { SkillCatalogue } from "../core/requests/skills/skill-catalogue.ts";
import type { StandingOnPlatforms } from "../core/requests/standing-on-platforms.ts";
import type { Backlog } from "../core/upkeep/backlog.ts";
import type { Capacity } from "../core/upkeep/capacity.ts";
import type { Doctor } from "../core/upkeep/doctor.ts";
import type { StoredBytesMeter } from "../core/upkeep/stored-bytes.ts";
import type { KeyHasher } from "./auth/api-keys.ts";
import type { PrincipalCache } from "./auth/principal-cache.ts";
import type { FixedLimits, OperatorLimits } from "./http/api-limits.ts";

/** The dependencies of the HTTP side. Only the composition root builds them. */
export interface ApiDeps {
  readonly runs: RunService;
  readonly skills: Pick<SkillCatalogue, "list">;
  readonly catalogue: AgentCatalogueView;
  readonly doctor: Pick<Doctor, "examine">;
  readonly adapterSettings: AdapterSettings;
  readonly installationGuides: () => Promise<readonly InstallationGuide[]>;
  readonly storage: Storage;
  readonly backlog: () => Promise<Backlog>;
  /** As measured in the last minute. */
  readonly storedBytes: Pick<StoredBytesMeter, "latest">;
  readonly capacity: Pick<Capacity, "look">;
  readonly principals: Pick<PrincipalCache, "getMany" | "listTeam">;
  readonly pullRequests: Pick<PullRequestReader, "refresh">;
  readonly standing: Pick<StandingOnPlatforms, "find">;
  readonly blobs: Pick<BlobStore, "put" | "read">;
  readonly secrets: SecretBox;
  /** The networks from which agents connect, as the operator states them. */
  readonly egressRanges: readonly string[];
  /** The registries from which workers pull images. */
  readonly imageRegistries: readonly string[];
  readonly webhookClient: Pick<WebhookClient, "problemOf">;
  readonly loadWorkflowTokens: () => Promise<WorkflowTokens>;
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
  /** The sites whose scripts may use the API. */
  readonly allowedOrigins: readonly string[];
  /** PEM texts. undefined: a proxy terminates HTTPS, or HTTPS is not used. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** The platforms whose workspaces an administrator connects in the browser. */
  readonly installers: readonly AppInstaller[];
  /** The platforms that create and update the app of this server with a token. */
  readonly appManagers: readonly AppManager[];
  /** The platforms that create the app of this server in the browser. */
  readonly appCreators: readonly AppCreator[];
  /** The web routes of the adapters. They parse their own bodies, because signatures cover the raw bytes. */
  readonly adapterRoutes: readonly FastifyPluginAsync[];
  /** The operator's limits. Tests also set the fixed limits. */
  readonly limits: OperatorLimits & Partial<FixedLimits>;
}
