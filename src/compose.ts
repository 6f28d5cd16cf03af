import type { RunningAdapter } from "./adapters/registry.ts";
import { createKeyHasher, type KeyHasher } from "./api/api-keys.ts";
import type { ApiParts } from "./api/api-parts.ts";
import { KnownPeople } from "./api/known-people.ts";
import { type AgentParts, composeAgents } from "./compose-agents.ts";
import { composeDoctor } from "./compose-doctor.ts";
import type { Config } from "./config.ts";
import { EnvironmentService } from "./core/environments/environment-service.ts";
import { newId } from "./core/ids.ts";
import { Intake } from "./core/intake/intake.ts";
import type { BlobStore } from "./core/ports/blob-store.ts";
import type { Log } from "./core/ports/log.ts";
import type { SecretBox } from "./core/ports/secret-box.ts";
import type { SkillLibrary } from "./core/ports/skill-library.ts";
import type { Storage } from "./core/ports/storage.ts";
import type { WebhookClient } from "./core/ports/webhook-client.ts";
import { runRules } from "./core/rules/run-rules.ts";
import { RunService } from "./core/runs/run-service.ts";
import { SkillCatalogue } from "./core/skills/skill-catalogue.ts";
import { SkillFinder } from "./core/skills/skill-finder.ts";
import { NoticeWriter } from "./core/threads/notice-writer.ts";
import { Postman } from "./core/threads/postman.ts";
import { RepositoryMirrors } from "./git/repository-mirrors.ts";
import { createTeamAuthorizer, type TeamAuthorizer } from "./git/team-authorizer.ts";
import { type Logger, plainLog } from "./log.ts";
import { PostgresNews } from "./news/postgres-news.ts";
import { nextDue } from "./next-due.ts";
import { Destinations } from "./outgoing/destinations.ts";
import { PgBossQueue } from "./queue/pg-boss-queue.ts";
import type { KnownSecrets } from "./redaction.ts";
import { createSecretBox } from "./secret-box.ts";
import { deriveKey } from "./secrets.ts";
import { createGitSkillLibrary } from "./skills/git-skill-library.ts";
import { createPrismaBlobStore } from "./storage/blob-store.ts";
import { Database } from "./storage/database.ts";
import { createPrismaStorage } from "./storage/prisma-storage.ts";
import { systemClock } from "./system-clock.ts";
import { createWebhookClient } from "./webhooks/http-webhook-client.ts";

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
  readonly agents: AgentParts;
  /** With whose key a team's repository is read, or written to. */
  readonly authorize: TeamAuthorizer;
  readonly writer: NoticeWriter;
  readonly runs: RunService;
  readonly intake: Intake;
  readonly postman: Postman;
  readonly repositories: RepositoryMirrors;
  readonly skillLibrary: SkillLibrary;
  readonly skills: SkillCatalogue;
}

/** For the queue's own supervision and its jobs. */
const QUEUE_CONNECTIONS = 4;
const BLOB_LINK = { maxConnections: 2, statementMs: 60_000 } as const;
const NEWS_CONNECTIONS = 1;
/** What a process opens besides `ERRAND_DATABASE_CONNECTIONS`. */
export const CONNECTIONS_BESIDES = QUEUE_CONNECTIONS + BLOB_LINK.maxConnections + NEWS_CONNECTIONS;

/** Here and in `compose-*.ts` parts are put together, and nowhere else. Nothing is started. */
export async function compose(grounds: Grounds): Promise<Parts> {
  const { config, databaseUrl: url, logger, publicUrl } = grounds;
  const log = plainLog(logger);
  const clock = systemClock;
  const database = new Database({ url, maxConnections: config.databaseConnections, log });
  const blobs = new Database({ url, ...BLOB_LINK, log });
  const news = new PostgresNews({ url, log });
  const link = { url, maxConnections: QUEUE_CONNECTIONS, news, log };
  const queue = new PgBossQueue({ ...link, ...hostOf(config) });
  const storage = createPrismaStorage({ database, news, clock, sendJobs: queue.sendJobs });
  const adapters = await createAdapters(config, storage, log);
  const threadAdapters = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter]));
  const traits = new Map(Array.from(threadAdapters, ([name, adapter]) => [name, adapter.traits]));
  const writer = new NoticeWriter(publicUrl, traits);
  const agents = composeAgents(config);
  const rules = runRules({ storage, news, clock });
  const authorize = createTeamAuthorizer(openersOf(adapters, "openRepository"), storage.installations);
  const skillParts = composeSkills(config, storage, authorize, log);
  const skills = skillParts.finder;
  const runs = new RunService({ storage, clock, writer, agents: agents.choice, skills, ...rules });
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
    agents,
    authorize,
    writer,
    runs,
    intake,
    postman,
    repositories: skillParts.repositories,
    skillLibrary: skillParts.library,
    skills: skillParts.catalogue,
  };
}

export function apiParts(grounds: Grounds, parts: Parts): ApiParts {
  const { database, formerHashers, hashKey, news, runs, storage } = parts;
  return {
    runs,
    skills: parts.skills,
    catalogue: parts.agents.view,
    doctor: composeDoctor(
      { ...grounds, ...parts, catalogueView: parts.agents.view },
      plainLog(grounds.logger),
    ),
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

export function hostOf({ workerHost }: Config): { readonly host?: string } {
  return workerHost === undefined ? {} : { host: workerHost };
}

/** What the adapters offer of a kind, by their names. */
export function openersOf<Kind extends "openRepository" | "openPullRequests">(
  adapters: ReadonlyMap<string, RunningAdapter>,
  kind: Kind,
): ReadonlyMap<string, NonNullable<RunningAdapter[Kind]>> {
  const offers = Array.from(adapters, ([name, adapter]) => [name, adapter[kind]] as const);
  return new Map(offers.flatMap(([name, open]) => (open === undefined ? [] : [[name, open] as const])));
}

function composeSkills(
  { dataDir, gitUrl: baseUrl }: Config,
  storage: Storage,
  authorize: TeamAuthorizer,
  log: Log,
) {
  const clock = systemClock;
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
