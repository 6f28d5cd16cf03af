import { pullRequestsWithToken, type RunningAdapter } from "../adapters/registry.ts";
import type { ApiDeps } from "../api/api-deps.ts";
import { createKeyHasher, type KeyHasher, newToken } from "../api/auth/api-keys.ts";
import { PrincipalCache } from "../api/auth/principal-cache.ts";
import type { Config } from "../config/config.ts";
import { secretsIn } from "../config/secret-values.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { PullRequests } from "../core/ports/pull-requests.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { SkillLibrary } from "../core/ports/skill-library.ts";
import type { AdapterSettings } from "../core/ports/stores/adapter-settings.ts";
import type { AppInstallations } from "../core/ports/stores/app-installations.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import type { ThreadAdapter } from "../core/ports/thread-adapter.ts";
import type { WebhookClient } from "../core/ports/webhook-client.ts";
import { PullRequestReader } from "../core/requests/pull-request-reader.ts";
import { RequestDefaultsService } from "../core/requests/routing/request-defaults-service.ts";
import { RunService } from "../core/requests/run-service.ts";
import { SkillCatalogue } from "../core/requests/skills/skill-catalogue.ts";
import { SkillFinder } from "../core/requests/skills/skill-finder.ts";
import { StandingOnPlatforms } from "../core/requests/standing-on-platforms.ts";
import { NoticeWriter } from "../core/runs/notice-writer.ts";
import { InstallationHealth } from "../core/team/people/installation-health.ts";
import { PrincipalJoins } from "../core/team/people/principal-joins.ts";
import { runRules } from "../core/team/policies/run-rules.ts";
import { EnvironmentService } from "../core/team/records/environment-service.ts";
import { createGitTokens } from "../core/team/records/secret-service.ts";
import { searchChoices } from "../core/threads/inbox/environment-choice.ts";
import { InboxProcessor } from "../core/threads/inbox/inbox-processor.ts";
import { PersonViews } from "../core/threads/inbox/person-views.ts";
import { PrivateCommands } from "../core/threads/inbox/private-commands.ts";
import { OutboxDispatcher } from "../core/threads/outbox/outbox-dispatcher.ts";
import { Capacity } from "../core/upkeep/capacity.ts";
import type { Doctor } from "../core/upkeep/doctor.ts";
import { StoredBytesMeter } from "../core/upkeep/stored-bytes.ts";
import { RepositoryMirrors } from "../git/repository-mirrors.ts";
import { createGitSkillLibrary } from "../git/skills/git-skill-library.ts";
import {
  createTeamAuthorizer,
  createTeamCommitter,
  type TeamAuthorizer,
  type TeamCommitter,
} from "../git/team-authorizer.ts";
import { createTeamPullRequests } from "../git/team-pull-requests.ts";
import { Destinations } from "../outgoing/destinations.ts";
import { createWebhookClient } from "../outgoing/http-webhook-client.ts";
import { oidcProvider } from "../outgoing/sign-in/oidc.ts";
import type { KnownSecrets } from "../secrets/redaction.ts";
import { createSecretBox } from "../secrets/secret-box.ts";
import { deriveKey } from "../secrets/secret-files.ts";
import type { ServerProof } from "../secrets/server-proof.ts";
import { PrismaAdapterSettings } from "../storage/adapter-settings.ts";
import { PrismaAppInstallations } from "../storage/app-installations.ts";
import { createPrismaBlobStore } from "../storage/blob-store.ts";
import { Database } from "../storage/database.ts";
import { PostgresPubSub } from "../storage/postgres-pubsub.ts";
import { createPrismaStorage } from "../storage/prisma-storage.ts";
import { PgBossQueue } from "../storage/queue/pg-boss-queue.ts";
import { JOB_INSERT } from "../storage/queue/queue-settings.ts";
import { measureStoredBytes } from "../storage/stored-bytes.ts";
import { diskIdOf } from "../workspace/disk.ts";
import { AdapterConnection } from "./adapter-connection.ts";
import { appCreatorsOf, appManagersOf, createAdapters, guidesOf } from "./compose-adapters.ts";
import { type AgentDeps, composeAgents } from "./compose-agents.ts";
import { composeDoctor } from "./compose-doctor.ts";
import { nextDue } from "./cron.ts";
import { type Logger, plainLog } from "./logger.ts";
import { sha256, systemClock } from "./system.ts";

/** What must be known before the application can be composed. `start.ts` provides it. */
export interface Bootstrap {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly knownSecrets: KnownSecrets;
  readonly logger: Logger;
  readonly tls: ApiDeps["tls"];
  readonly publicUrl: () => string;
  readonly serverProof: ServerProof;
  readonly draining?: AbortSignal;
}

/** The long-lived objects of the application, and the services that use them. */
export interface AppDeps {
  readonly database: Database;
  /** Separate connections for blobs, which are large, so that short statements do not wait for them. */
  readonly blobDatabase: Database;
  /** Separate connections for reports, which read many rows, so that short statements do not wait for them. */
  readonly reportDatabase: Database;
  readonly blobs: BlobStore;
  readonly pubsub: PostgresPubSub;
  readonly queue: PgBossQueue;
  /** The id of this worker's data directory. */
  readonly disk?: string;
  readonly storage: Storage;
  readonly adapterSettings: AdapterSettings;
  readonly appInstallations: AppInstallations;
  readonly hashKey: KeyHasher;
  readonly formerHashers: readonly KeyHasher[];
  readonly secrets: SecretBox;
  readonly webhookClient: WebhookClient;
  readonly adapters: ReadonlyMap<string, RunningAdapter>;
  readonly threadAdapters: ReadonlyMap<string, ThreadAdapter>;
  readonly signInProviders: readonly SignInProvider[];
  readonly storedBytes: ApiDeps["storedBytes"];
  readonly doctor: Doctor;
  readonly agents: AgentDeps;
  /** Provides the key with which a team's repository is read or written. */
  readonly authorize: TeamAuthorizer;
  readonly committerOf: TeamCommitter;
  readonly pullRequests: PullRequests;
  readonly pullRequestReader: PullRequestReader;
  readonly writer: NoticeWriter;
  readonly runs: RunService;
  readonly joins: PrincipalJoins;
  readonly inboxProcessor: InboxProcessor;
  readonly outboxDispatcher: OutboxDispatcher;
  readonly repositories: RepositoryMirrors;
  readonly skillLibrary: SkillLibrary;
  readonly skills: SkillCatalogue;
}

/** For the queue's own supervision and its jobs. */
const QUEUE_CONNECTIONS = 4;
const BLOB_LINK = { maxConnections: 2, statementMs: 60_000 } as const;
/** A report of a year over millions of runs takes seconds. */
const REPORT_LINK = { maxConnections: 2, statementMs: 30_000 } as const;
const PUBSUB_CONNECTIONS = 1;
/** The connections that a process opens in addition to `ERRAND_DATABASE_CONNECTIONS`. */
export const CONNECTIONS_BESIDES =
  QUEUE_CONNECTIONS + BLOB_LINK.maxConnections + REPORT_LINK.maxConnections + PUBSUB_CONNECTIONS;

/** Creates all objects of the application, together with the `compose-*.ts` files. Nothing is started here. */
export async function compose(bootstrap: Bootstrap): Promise<AppDeps> {
  const stores = await composeStores(bootstrap);
  const connection = new AdapterConnection();
  const adapters = await createAdapters(bootstrap, stores, connection);
  const requests = composeRequests(bootstrap, { ...stores, adapters });
  const threads = composeThreads(bootstrap, { ...stores, ...requests, adapters });
  connection.connect({
    commands: threads.privateCommands,
    search: (search) => searchChoices(search, { adapters: threads.threadAdapters, storage: stores.storage }),
    views: threads.personViews,
  });
  return { ...stores, ...requests, ...threads, adapters };
}

type Stores = Pick<
  AppDeps,
  | "adapterSettings"
  | "appInstallations"
  | "blobDatabase"
  | "blobs"
  | "database"
  | "disk"
  | "pubsub"
  | "queue"
  | "reportDatabase"
  | "storage"
> &
  Pick<AppDeps, "formerHashers" | "hashKey" | "secrets">;

/** What keeps everything, and the keys to it. */
async function composeStores(bootstrap: Bootstrap): Promise<Stores> {
  const { config, databaseUrl: url, logger } = bootstrap;
  const { databaseConnections: maxConnections, poolerUrl } = config;
  const log = plainLog(logger);
  const clock = systemClock;
  const isPooled = poolerUrl !== undefined;
  const database = new Database({ url: poolerUrl ?? url, isPooled, maxConnections, log });
  const blobDatabase = new Database({ url, ...BLOB_LINK, log });
  const reportDatabase = new Database({ url, ...REPORT_LINK, log });
  const pubsub = new PostgresPubSub({ url, log });
  const disk = await diskOf(config);
  const link = { url, maxConnections: QUEUE_CONNECTIONS, pubsub, log };
  const [hashKey, ...formerHashers] = fromSecretKeys(bootstrap, "api-keys", createKeyHasher);
  const secrets = createSecretBox(fromSecretKeys(bootstrap, "sealing", (key) => key));
  return {
    adapterSettings: new PrismaAdapterSettings({
      ...{ database, pubsub, clock, secrets },
      learn: (values) => bootstrap.knownSecrets.learn(secretsIn(values)),
    }),
    appInstallations: new PrismaAppInstallations({ database, pubsub, clock, jobInsert: JOB_INSERT }),
    database,
    blobDatabase,
    blobs: createPrismaBlobStore(blobDatabase, clock),
    pubsub,
    queue: new PgBossQueue(link),
    ...disk,
    reportDatabase,
    storage: createPrismaStorage({ database, reportDatabase, pubsub, clock, jobInsert: JOB_INSERT }),
    secrets,
    hashKey,
    formerHashers,
  };
}

/** What turns a request into a run: agents, repositories, skills, rules. */
function composeRequests(bootstrap: Bootstrap, deps: Stores & Pick<AppDeps, "adapters">) {
  const { config, logger, publicUrl } = bootstrap;
  const { adapters, blobs, pubsub, secrets, storage } = deps;
  const [clock, log] = [systemClock, plainLog(logger)];
  const traits = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter.traits]));
  const writer = new NoticeWriter(publicUrl, traits);
  const agents = composeAgents(config);
  const rules = runRules({ storage, pubsub, clock });
  const teams = composeRepositories(config, { adapters, secrets, storage, log });
  const { catalogue, finder, library, repositories } = composeSkills(config, storage, teams.authorize, log);
  const runs = new RunService({
    storage,
    clock,
    writer,
    agents: agents.choice,
    skills: finder,
    secretBox: secrets,
    pullRequests: teams.pullRequests,
    blobs,
    digest: sha256,
    log,
    ...rules,
  });
  return {
    ...teams,
    agents,
    writer,
    runs,
    joins: new PrincipalJoins({ storage, box: secrets, digest: sha256, log }),
    policies: rules.policies,
    pullRequestReader: new PullRequestReader({ pullRequests: teams.pullRequests, runs, clock, log }),
    repositories,
    skillLibrary: library,
    skills: catalogue,
    signInProviders: signInProviders(config, adapters),
    webhookClient: createWebhookClient({ destinations: new Destinations(config.webhookAllow) }),
  };
}

/** The conversation with outside threads, and the doctor, whom people ask there too. */
function composeThreads(
  bootstrap: Bootstrap,
  deps: Stores & ReturnType<typeof composeRequests> & Pick<AppDeps, "adapters">,
) {
  const { logger, publicUrl } = bootstrap;
  const { adapters, agents, blobs, hashKey, joins, policies, runs, storage } = deps;
  const [clock, log] = [systemClock, plainLog(logger)];
  const threadAdapters = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter]));
  const installationHealth = new InstallationHealth({ installations: storage.installations, clock, log });
  const requestDefaults = new RequestDefaultsService({ storage, digest: sha256, clock });
  const common = { adapters: threadAdapters, installationHealth, runs, log };
  const storedBytes = new StoredBytesMeter(() => measureStoredBytes(bootstrap.databaseUrl), clock);
  const doctor = composeDoctor({ ...bootstrap, ...deps, catalogueView: agents.view, storedBytes }, log);
  const makeToken = () => {
    const token = newToken();
    return { token, hash: hashKey(token) };
  };
  const { gitUrl } = bootstrap.config;
  const commands = { gitUrl, storage, runs, policies, requestDefaults, doctor, clock, makeToken, publicUrl };
  return {
    threadAdapters,
    storedBytes,
    doctor,
    inboxProcessor: new InboxProcessor({
      ...common,
      requestDefaults,
      changesDefault: bootstrap.config.work.pullRequests,
      gitUrl,
      storage,
      joins,
      policies,
      pullRequests: deps.pullRequestReader,
      blobs,
      clock,
    }),
    outboxDispatcher: new OutboxDispatcher({ ...common, outbox: storage.outbox }),
    privateCommands: new PrivateCommands({ ...commands, joins, digest: sha256 }),
    personViews: new PersonViews({ agents: agents.view, joins, policies, runs, storage }),
  };
}

export function apiDeps(bootstrap: Bootstrap, deps: AppDeps): ApiDeps {
  const { database, formerHashers, hashKey, pubsub, runs, storage } = deps;
  return {
    runs,
    skills: deps.skills,
    catalogue: deps.agents.view,
    doctor: deps.doctor,
    adapterSettings: deps.adapterSettings,
    installationGuides: () => guidesOf(bootstrap),
    storage,
    storedBytes: deps.storedBytes,
    capacity: new Capacity({ ...storage, clock: systemClock }),
    principals: new PrincipalCache({ people: storage.people, pubsub, clock: systemClock }),
    pullRequests: deps.pullRequestReader,
    standing: new StandingOnPlatforms({ adapters: deps.threadAdapters, storage, clock: systemClock }),
    blobs: deps.blobs,
    secrets: deps.secrets,
    egressRanges: bootstrap.config.egressRanges,
    imageRegistries: bootstrap.config.sandbox.docker.images.registries,
    webhookClient: deps.webhookClient,
    // Its HTTP client is large, and most servers see no token of a workflow.
    loadWorkflowTokens: async () =>
      (await import("../outgoing/sign-in/workflow-tokens.ts")).createWorkflowTokens({
        destinations: new Destinations(bootstrap.config.webhookAllow),
      }),
    pubsub,
    clock: systemClock,
    nextDue,
    log: bootstrap.logger,
    hashKey,
    formerHashers,
    sessionSecret: deriveKey(bootstrap.secretKey, "cookies"),
    publicUrl: bootstrap.publicUrl,
    proveServer: (nonce) => bootstrap.serverProof.prove(nonce),
    signInProviders: deps.signInProviders,
    signInHelp: bootstrap.config.signIn.help,
    serves: bootstrap.config.role === "worker" ? "health" : "everything",
    trustProxy: bootstrap.config.trustProxy,
    allowedOrigins: bootstrap.config.allowedOrigins,
    limits: bootstrap.config.limits,
    tls: bootstrap.tls,
    ready: async () => (bootstrap.draining?.aborted ? "The process stops." : database.unusable()),
    ...defined({ draining: bootstrap.draining }),
    appCreators: appCreatorsOf(bootstrap, deps),
    appManagers: appManagersOf(bootstrap),
    installers: Array.from(deps.adapters.values(), ({ installer }) => installer ?? []).flat(),
    adapterRoutes: Array.from(deps.adapters.values(), ({ routes }) => routes ?? []).flat(),
  };
}

function signInProviders(
  { signIn: { oidc } }: Config,
  adapters: AppDeps["adapters"],
): readonly SignInProvider[] {
  const ofAdapters = Array.from(adapters.values(), ({ signIn }) => signIn ?? []).flat();
  return [...ofAdapters, ...(oidc === undefined ? [] : [oidcProvider(oidc)])];
}

/** The host name under which this process takes jobs. A process of role `api` takes none. */
export function hostOf({ role, workerHost }: Config): { readonly host?: string } {
  return workerHost === undefined || role === "api" ? {} : { host: workerHost };
}

/** A process of role `api` has no files of runs. */
async function diskOf({ dataDir, role }: Config): Promise<{ readonly disk?: string }> {
  return role === "api" ? {} : { disk: await diskIdOf(dataDir) };
}

/** The given function of each adapter that has it, by the adapter's name. */
function openersOf<Kind extends "openRepository" | "openPullRequests">(
  adapters: ReadonlyMap<string, RunningAdapter>,
  kind: Kind,
): ReadonlyMap<string, NonNullable<RunningAdapter[Kind]>> {
  const offers = Array.from(adapters, ([name, adapter]) => [name, adapter[kind]] as const);
  return new Map(offers.flatMap(([name, open]) => (open === undefined ? [] : [[name, open] as const])));
}

/** How the repositories of teams are reached: with the key of an installation, or with the team's own token. */
function composeRepositories(
  { pullRequestApiUrl }: Config,
  deps: Pick<AppDeps, "adapters" | "secrets" | "storage"> & { readonly log: Log },
): Pick<AppDeps, "authorize" | "committerOf" | "pullRequests"> {
  const { adapters, log, secrets, storage } = deps;
  const { installations } = storage;
  const findToken = createGitTokens(storage.secrets, secrets);
  const openers = openersOf(adapters, "openRepository");
  return {
    authorize: createTeamAuthorizer({ openers, installations, findToken }),
    committerOf: createTeamCommitter({ openers, installations }),
    pullRequests: createTeamPullRequests({
      openers: openersOf(adapters, "openPullRequests"),
      openWithToken: pullRequestsWithToken(pullRequestApiUrl, log),
      installations,
      findToken,
    }),
  };
}

function composeSkills(
  { dataDir, gitUrl: baseUrl, sandbox }: Config,
  storage: Storage,
  authorize: TeamAuthorizer,
  log: Log,
) {
  const clock = systemClock;
  const imageRegistries = sandbox.docker.images.registries;
  const repositories = new RepositoryMirrors({ dataDir, baseUrl, authorize, clock, log });
  const library = createGitSkillLibrary(repositories);
  const environments = new EnvironmentService({ storage, clock, imageRegistries });
  const history = storage.skillHistory;
  return {
    repositories,
    library,
    finder: new SkillFinder({ library, environments }),
    catalogue: new SkillCatalogue({ library, environments, history, log }),
  };
}

/** One value for each secret key, the current key first. */
export function fromSecretKeys<T>(
  { config: { oldSecretKeys }, secretKey }: Pick<Bootstrap, "config" | "secretKey">,
  purpose: string,
  make: (key: string) => T,
): readonly [T, ...T[]] {
  const makeFrom = (key: string): T => make(deriveKey(key, purpose));
  return [makeFrom(secretKey), ...oldSecretKeys.map(makeFrom)];
}
