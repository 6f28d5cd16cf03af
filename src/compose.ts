import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { RunningAdapter } from "./adapters/registry.ts";
import { createAcpRunner } from "./agents/acp/acp-runner.ts";
import { type AgentCatalogue, createCatalogue } from "./agents/catalogue.ts";
import { createCatalogueView } from "./agents/catalogue-view.ts";
import { createKeyHasher, type KeyHasher } from "./api/api-keys.ts";
import type { ApiParts } from "./api/api-parts.ts";
import { KnownPeople } from "./api/known-people.ts";
import { composeDoctor } from "./compose-doctor.ts";
import type { Config } from "./config.ts";
import { RunWorker } from "./core/attempts/run-worker.ts";
import { EnvironmentService } from "./core/environments/environment-service.ts";
import { newId } from "./core/ids.ts";
import { Intake } from "./core/intake/intake.ts";
import { Janitor } from "./core/janitor.ts";
import type { AgentCatalogueView } from "./core/ports/agent-catalogue.ts";
import type { BlobStore } from "./core/ports/blob-store.ts";
import type { Log } from "./core/ports/log.ts";
import type { SecretBox } from "./core/ports/secret-box.ts";
import type { SkillLibrary } from "./core/ports/skill-library.ts";
import type { Storage } from "./core/ports/storage.ts";
import type { WebhookClient } from "./core/ports/webhook-client.ts";
import { runRules } from "./core/rules/run-rules.ts";
import { RunService } from "./core/runs/run-service.ts";
import { Scheduler } from "./core/schedules/scheduler.ts";
import { SkillCatalogue } from "./core/skills/skill-catalogue.ts";
import { SkillFinder } from "./core/skills/skill-finder.ts";
import { NoticeWriter } from "./core/threads/notice-writer.ts";
import { Postman } from "./core/threads/postman.ts";
import { WebhookFanOut } from "./core/webhooks/webhook-fan-out.ts";
import { WebhookSender } from "./core/webhooks/webhook-sender.ts";
import type { WebhookWorkerParts } from "./core/webhooks/webhook-worker.ts";
import { Heartbeat } from "./core/workers/heartbeat.ts";
import { RepositoryMirrors } from "./git/repository-mirrors.ts";
import { createTeamAuthorizer } from "./git/team-authorizer.ts";
import { type Logger, plainLog } from "./log.ts";
import { PostgresNews } from "./news/postgres-news.ts";
import { nextDue } from "./next-due.ts";
import { Destinations } from "./outgoing/destinations.ts";
import { PgBossQueue } from "./queue/pg-boss-queue.ts";
import type { KnownSecrets } from "./redaction.ts";
import { createBubblewrapSandbox } from "./sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { chooseSandbox } from "./sandboxes/choose-sandbox.ts";
import { createLocalSandbox } from "./sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";
import { createSecretBox } from "./secret-box.ts";
import { deriveKey } from "./secrets.ts";
import { createGitSkillLibrary } from "./skills/git-skill-library.ts";
import { createPrismaBlobStore } from "./storage/blob-store.ts";
import { Database } from "./storage/database.ts";
import { createPrismaStorage } from "./storage/prisma-storage.ts";
import { systemClock } from "./system-clock.ts";
import { createWebhookClient } from "./webhooks/http-webhook-client.ts";
import { createWorkspaceKeeper } from "./workspace/workspace-keeper.ts";

/** What must be known before parts can be put together: settled by `start.ts`. */
export interface Grounds {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly knownSecrets: KnownSecrets;
  readonly logger: Logger;
  readonly tls: ApiParts["tls"];
  readonly publicUrl: () => string;
}

/** The parts with a life of their own, and the services on them. */
export interface Parts {
  readonly database: Database;
  /** Connections of their own for files, which are large: they must not keep the short statements waiting. */
  readonly blobs: Database;
  readonly files: BlobStore;
  readonly news: PostgresNews;
  readonly queue: PgBossQueue;
  readonly storage: Storage;
  readonly hashKey: KeyHasher;
  readonly formerHashers: readonly KeyHasher[];
  readonly secrets: SecretBox;
  readonly webhookClient: WebhookClient;
  readonly adapters: ReadonlyMap<string, RunningAdapter>;
  readonly agentName: string;
  readonly writer: NoticeWriter;
  readonly catalogue: AgentCatalogue;
  readonly catalogueView: AgentCatalogueView;
  readonly runs: RunService;
  readonly intake: Intake;
  readonly postman: Postman;
  readonly repositories: RepositoryMirrors;
  readonly skillLibrary: SkillLibrary;
  readonly skills: SkillCatalogue;
}

export interface WorkerParts {
  readonly sandbox: Sandbox;
  readonly runWorker: RunWorker;
  readonly janitor: Janitor;
  readonly scheduler: Scheduler;
  readonly heartbeat: Heartbeat;
  readonly webhooks: WebhookWorkerParts;
}

/** A worker that is gone for this long has lost its runs. */
const LEASE_MS = 10_000;
/** The queue's own supervision and its jobs; the rest of the connections are for requests. */
const QUEUE_CONNECTIONS = 4;
const BLOB_LINK = { maxConnections: 2, statementMs: 60_000 } as const;
/** The one agent there is without a key. */
const DEFAULT_AGENT = "demo";

/** The only place where parts are put together. Nothing is started here. */
export async function compose(grounds: Grounds): Promise<Parts> {
  const { config, databaseUrl: url, logger, publicUrl } = grounds;
  const log = plainLog(logger);
  const clock = systemClock;
  const database = new Database({ url, maxConnections: config.databaseConnections, log: log.warn });
  const blobs = new Database({ url, ...BLOB_LINK, log: log.warn });
  const news = new PostgresNews({ url, log: log.warn });
  const link = { url, maxConnections: QUEUE_CONNECTIONS, news, log: log.warn };
  const queue = new PgBossQueue({ ...link, ...hostOf(config) });
  const storage = createPrismaStorage({ database, news, clock, sendJobs: queue.sendJobs });
  const adapters = await createAdapters(config, storage, log);
  const threadAdapters = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter]));
  const traits = new Map(Array.from(threadAdapters, ([name, adapter]) => [name, adapter.traits]));
  const writer = new NoticeWriter(publicUrl, traits);
  const catalogue = createCatalogue();
  const agents = { names: new Set(catalogue.keys()), defaultName: DEFAULT_AGENT };
  const rules = runRules({ storage, news, clock });
  const skillParts = composeSkills(config, storage, adapters, log);
  const skills = skillParts.finder;
  const runs = new RunService({ storage, clock, writer, agents, skills, ...rules });
  const intake = new Intake({ storage, runs, adapters: threadAdapters, clock, log });
  const postman = new Postman({ outbox: storage.outbox, adapters: threadAdapters, log });
  const [hashKey, ...formerHashers] = fromSecretKeys(grounds, "api-keys", createKeyHasher);
  return {
    database,
    blobs,
    files: createPrismaBlobStore(blobs, clock),
    news,
    queue,
    storage,
    hashKey,
    formerHashers,
    secrets: createSecretBox(fromSecretKeys(grounds, "sealing", (key) => key)),
    webhookClient: createWebhookClient({ destinations: new Destinations(config.webhookAllow) }),
    adapters,
    agentName: DEFAULT_AGENT,
    writer,
    catalogue,
    catalogueView: createCatalogueView(catalogue, DEFAULT_AGENT),
    runs,
    intake,
    postman,
    repositories: skillParts.repositories,
    skillLibrary: skillParts.library,
    skills: skillParts.catalogue,
  };
}

/** What only a worker has. Fails with an AppError when there is no sandbox for the agent. */
export async function composeWorker(grounds: Grounds, parts: Parts): Promise<WorkerParts> {
  const { config, knownSecrets, logger } = grounds;
  const { catalogue, files, news, queue, storage, writer } = parts;
  const log = plainLog(logger);
  const sandbox = await sandboxFor(config, catalogue);
  const host = hostOf(config);
  // Nobody else's, also not that of a process with this number on a machine that is called the same.
  const worker = `${hostname()}:${process.pid}:${randomBytes(3).toString("hex")}`;
  const runWorker = new RunWorker({
    ...host,
    storage,
    news,
    log,
    redactors: knownSecrets,
    secretBox: parts.secrets,
    clock: systemClock,
    writer,
    agents: createAcpRunner({ catalogue, sandbox, log: logger }),
    blobs: files,
    skills: parts.skillLibrary,
    workspaces: createWorkspaceKeeper({ dataDir: config.dataDir, blobs: files }),
    leaseMs: LEASE_MS,
    worker,
  });
  const janitor = new Janitor({ ...host, storage, blobs: files, queue, runWorker, log });
  const heartbeat = new Heartbeat({
    ...{ workers: storage.workers, clock: systemClock, log },
    worker: { id: worker, ...host, slots: config.concurrency, sandbox },
  });
  const others = { scheduler: composeScheduler(grounds, parts), webhooks: composeWebhooks(grounds, parts) };
  return { sandbox, runWorker, janitor, heartbeat, ...others };
}

function composeScheduler({ logger, publicUrl }: Grounds, { runs, storage }: Parts): Scheduler {
  const linkOf = (id: string) => `${publicUrl()}/api/v1/agent/schedules/${id}`;
  return new Scheduler({ storage, runs, clock: systemClock, nextDue, linkOf, log: plainLog(logger) });
}

function composeWebhooks({ knownSecrets: { redact }, logger }: Grounds, parts: Parts): WebhookWorkerParts {
  const { news, secrets: box, storage, webhookClient: client, writer } = parts;
  const [clock, log] = [systemClock, plainLog(logger)];
  const sessionLink: NoticeWriter["sessionLink"] = (run) => writer.sessionLink(run);
  return {
    fanOut: new WebhookFanOut({ storage, log, redact, sessionLink }),
    sender: new WebhookSender({ storage, client, box, clock, log }),
    history: storage.webhooks.history,
    clock,
    news,
    log,
  };
}

export function apiParts(grounds: Grounds, parts: Parts): ApiParts {
  const { database, formerHashers, hashKey, news, runs, storage } = parts;
  return {
    runs,
    skills: parts.skills,
    catalogue: parts.catalogueView,
    doctor: composeDoctor({ ...grounds, ...parts }, plainLog(grounds.logger)),
    storage,
    knownPeople: new KnownPeople({ people: storage.people, news, clock: systemClock }),
    blobs: parts.files,
    secrets: parts.secrets,
    webhookClient: parts.webhookClient,
    news,
    clock: systemClock,
    nextDue,
    log: grounds.logger,
    hashKey,
    formerHashers,
    sessionSecret: deriveKey(grounds.secretKey, "cookies"),
    publicUrl: grounds.publicUrl,
    serves: grounds.config.role === "worker" ? "health" : "everything",
    trustProxy: grounds.config.trustProxy,
    limits: grounds.config.limits,
    tls: grounds.tls,
    ready: () => database.unreachable(),
    adapterRoutes: Array.from(parts.adapters.values(), ({ routes }) => routes),
  };
}

function hostOf({ workerHost }: Config): { readonly host?: string } {
  return workerHost === undefined ? {} : { host: workerHost };
}

function composeSkills(
  { dataDir, gitUrl: baseUrl }: Config,
  storage: Storage,
  adapters: ReadonlyMap<string, RunningAdapter>,
  log: Log,
) {
  const clock = systemClock;
  const openers = Array.from(adapters, ([name, { openRepository }]) => [name, openRepository] as const);
  const known = openers.flatMap(([name, open]) => (open === undefined ? [] : [[name, open] as const]));
  const authorize = createTeamAuthorizer(new Map(known), storage.installations);
  const repositories = new RepositoryMirrors({ dataDir, baseUrl, authorize, clock, log });
  const library = createGitSkillLibrary(repositories);
  const environments = new EnvironmentService({ environments: storage.environments, clock });
  const history = storage.skillHistory;
  return {
    repositories,
    library,
    finder: new SkillFinder({ library, environments }),
    catalogue: new SkillCatalogue({ library, environments, history, log }),
  };
}

/** One for each secret key, the present one's first. */
function fromSecretKeys<T>(
  { config: { oldSecretKeys }, secretKey }: Pick<Grounds, "config" | "secretKey">,
  purpose: string,
  make: (key: string) => T,
): readonly [T, ...T[]] {
  const makeFrom = (key: string): T => make(deriveKey(key, purpose));
  return [makeFrom(secretKey), ...oldSecretKeys.map(makeFrom)];
}

async function createAdapters(
  config: Config,
  { inbox }: Storage,
  log: Log,
): Promise<ReadonlyMap<string, RunningAdapter>> {
  const accept: Parameters<Config["adapters"][number]>[0]["accept"] = (event) => {
    const receivedAt = systemClock.now();
    return inbox.put({ ...event, id: newId(receivedAt), receivedAt });
  };
  const running = await Promise.all(config.adapters.map((create) => create({ accept, log })));
  return new Map(running.map((adapter) => [adapter.adapter.name, adapter]));
}

/** One sandbox serves all agents of the catalogue, so the one that needs it most decides. */
function sandboxFor(config: Config, catalogue: AgentCatalogue): Promise<Sandbox> {
  const agents = [...catalogue.values()];
  const agent = agents.find(({ isDemo }) => !isDemo) ?? agents[0];
  if (agent === undefined) throw new Error("There is no agent in the catalogue.");
  const choices = { bubblewrap: createBubblewrapSandbox(), local: createLocalSandbox(config.dataDir) };
  return chooseSandbox(config.sandbox, agent, choices);
}
