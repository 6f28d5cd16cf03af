import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createCatalogueView } from "../../../src/agents/catalogue-view.ts";
import { createKeyHasher, keyHint, newApiKey } from "../../../src/api/auth/api-keys.ts";
import { PrincipalCache } from "../../../src/api/auth/principal-cache.ts";
import { type ApiDeps, type ApiLimits, createServer } from "../../../src/api/server.ts";
import { nextDue } from "../../../src/app/cron.ts";
import { createLogger } from "../../../src/app/logger.ts";
import { sha256, systemClock } from "../../../src/app/system.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Clock } from "../../../src/core/basics/clock.ts";
import type { SecretBox } from "../../../src/core/basics/crypto.ts";
import type { RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { Scope } from "../../../src/core/model/people/api-key.ts";
import type { InstallationGuide } from "../../../src/core/model/people/installation.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { AppCreator } from "../../../src/core/ports/app-creator.ts";
import type { AppInstaller } from "../../../src/core/ports/app-installer.ts";
import type { AppManager } from "../../../src/core/ports/app-manager.ts";
import type { Check } from "../../../src/core/ports/check.ts";
import type { PubSub } from "../../../src/core/ports/pubsub.ts";
import type { AdapterSettings } from "../../../src/core/ports/stores/adapter-settings.ts";
import type { IdempotencyStore } from "../../../src/core/ports/stores/idempotency-store.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { PullRequestReader } from "../../../src/core/requests/pull-request-reader.ts";
import { RunService } from "../../../src/core/requests/run-service.ts";
import { SkillCatalogue } from "../../../src/core/requests/skills/skill-catalogue.ts";
import { SkillFinder } from "../../../src/core/requests/skills/skill-finder.ts";
import { StandingOnPlatforms } from "../../../src/core/requests/standing-on-platforms.ts";
import { NoticeWriter } from "../../../src/core/runs/notice-writer.ts";
import { RunEdit } from "../../../src/core/runs/run-edit.ts";
import { runRules } from "../../../src/core/team/policies/run-rules.ts";
import { EnvironmentService } from "../../../src/core/team/records/environment-service.ts";
import { createGitTokens } from "../../../src/core/team/records/secret-service.ts";
import { Capacity } from "../../../src/core/upkeep/capacity.ts";
import { Doctor } from "../../../src/core/upkeep/doctor.ts";
import { StoredBytesMeter } from "../../../src/core/upkeep/stored-bytes.ts";
import { createTeamPullRequests } from "../../../src/git/team-pull-requests.ts";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { createWorkflowTokens } from "../../../src/outgoing/sign-in/workflow-tokens.ts";
import { createSecretBox } from "../../../src/secrets/secret-box.ts";
import { deriveKey } from "../../../src/secrets/secret-files.ts";
import { PrismaAdapterSettings } from "../../../src/storage/adapter-settings.ts";
import { readBacklog } from "../../../src/storage/backlog.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import type { StoreDeps } from "../../../src/storage/store-deps.ts";
import { measureStoredBytes } from "../../../src/storage/stored-bytes.ts";
import { agentChoice } from "../../support/agent-choice.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { InMemorySkillLibrary } from "../../support/memory/in-memory-skill-library.ts";
import { documentedJudge } from "../../support/openapi-answers.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { watchAnswers } from "../../support/watch-answers.ts";

export interface ApiHarnessOptions {
  /** Another process whose database this one uses. It must outlive this one. Neither notifies the other. */
  readonly sharedWith?: ApiHarness;
  /** Opens a pub/sub instead of `LocalNews`. The caller closes it. */
  readonly pubsub?: (databaseUrl: string) => Promise<PubSub>;
  /** The secret keys of the installation, the current one first. */
  readonly secretKeys?: readonly [string, ...string[]];
  readonly limits?: Partial<ApiLimits>;
  readonly adapterRoutes?: readonly FastifyPluginAsync[];
  readonly serves?: ApiDeps["serves"];
  readonly trustProxy?: ApiDeps["trustProxy"];
  readonly allowedOrigins?: ApiDeps["allowedOrigins"];
  readonly tls?: ApiDeps["tls"];
  readonly signInProviders?: ApiDeps["signInProviders"];
  readonly publicUrl?: () => string;
  readonly ready?: () => Promise<string | undefined>;
  /** The adapters that say what people are in threads. Default: none. */
  readonly adapters?: ConstructorParameters<typeof StandingOnPlatforms>[0]["adapters"];
  /** The pull requests of installations, by adapter name. Default: none. */
  readonly openers?: Parameters<typeof createTeamPullRequests>[0]["openers"];
  /** Default: none. */
  readonly guides?: readonly InstallationGuide[];
  /** The platforms whose workspaces administrators connect. Default: none. */
  readonly appManagers?: readonly AppManager[];
  readonly appCreators?: (deps: StoreDeps & { readonly secrets: SecretBox }) => readonly AppCreator[];
  readonly installers?: (deps: StoreDeps & { readonly secrets: SecretBox }) => readonly AppInstaller[];
  /** The checks of the doctor. Default: none. */
  readonly checks?: readonly Check[];
  readonly answers?: (answers: IdempotencyStore) => IdempotencyStore;
  readonly webhookAllow?: string;
}

interface NewUser {
  readonly name: string;
  readonly teamId?: TeamId;
  readonly scopes?: readonly Scope[];
}

export interface ApiHarness {
  readonly server: FastifyInstance;
  /** The address of the server, which listens on a free port. */
  readonly url: string;
  readonly key: string;
  readonly databaseUrl: string;
  readonly storage: Storage;
  readonly adapterSettings: AdapterSettings;
  readonly runs: RunService;
  /** The repositories with skills. */
  readonly skillLibrary: InMemorySkillLibrary;
  readonly secrets: SecretBox;
  readonly pubsub: LocalPubSub;
  readonly clock: TestClock;
  /** All log lines as text. */
  readonly logged: string[];
  /** Creates a key of a new user, which may start and read runs by default. */
  addUser(name: string, more?: Omit<NewUser, "name">): Promise<string>;
  revoke(key: string): Promise<void>;
  /** Changes a run as a worker would. */
  edit(runId: string, change: (edit: RunEdit) => void): Promise<Run>;
  close(): Promise<void>;
}

/** A pub/sub within this process. It loses all messages while `isSilent` is set. */
export class LocalPubSub implements PubSub {
  isSilent = false;
  readonly #listeners = new Map<string, Set<() => void>>();

  /** The number of subscribers to runs. */
  get listenerCount(): number {
    const ofRuns = Array.from(this.#listeners).filter(([channel]) => channel.startsWith("run:"));
    return ofRuns.reduce((sum, [, listeners]) => sum + listeners.size, 0);
  }

  /** The number of subscribers to this channel. */
  countOf(channel: string): number {
    return this.#listeners.get(channel)?.size ?? 0;
  }

  publish(channels: readonly string[]): void {
    if (this.isSilent) {
      return;
    }
    for (const channel of channels) {
      for (const listener of this.#listeners.get(channel) ?? []) {
        listener();
      }
    }
  }

  subscribe(channel: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}

/** The real time, which tests can move forward. */
export class TestClock implements Clock {
  aheadMs = 0;

  readonly elapsedMs = systemClock.elapsedMs;
  readonly every = systemClock.every;
  readonly after = systemClock.after;

  now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

export const PUBLIC_URL = "http://127.0.0.1:8787";
/** The secret key of a server whose options name none. */
/** The registries whose images environments may have. */
const IMAGE_REGISTRIES = ["docker.io", "registry.example.com:5000/team"];
export const SECRET = "a secret of this test";
const AGENTS = agentChoice("demo", "codex", "claude");

/** Starts the whole HTTP API on a real database and a free port. */
export async function startHarness(options: ApiHarnessOptions = {}): Promise<ApiHarness> {
  const testDatabase =
    options.sharedWith === undefined ? await createTestDatabase() : shared(options.sharedWith);
  const database = new Database({ url: testDatabase.url, maxConnections: 8, log: SILENT_LOG });
  const [pubsub, clock, logged] = [new LocalPubSub(), new TestClock(), [] as string[]];
  const usedPubsub = (await options.pubsub?.(testDatabase.url)) ?? pubsub;
  const stores = { database, pubsub: usedPubsub, clock, jobInsert: NO_JOBS };
  const storage = createPrismaStorage(stores);
  const writer = new NoticeWriter(() => PUBLIC_URL, new Map());
  const rules = runRules({ storage, pubsub, clock });
  const skillLibrary = new InMemorySkillLibrary();
  const skillDeps = {
    library: skillLibrary,
    environments: new EnvironmentService({ storage, clock, imageRegistries: IMAGE_REGISTRIES }),
    history: storage.skillHistory,
    log: SILENT_LOG,
  };
  const skills = new SkillFinder(skillDeps);
  const [secret, ...formerSecrets] = options.secretKeys ?? [SECRET];
  const secrets = createSecretBox([sealingKey(secret), ...formerSecrets.map(sealingKey)]);
  const pullRequests = createTeamPullRequests({
    openers: options.openers ?? new Map(),
    installations: storage.installations,
    findToken: createGitTokens(storage.secrets, secrets),
    openWithToken: async () => {
      throw new Error("No team has a token.");
    },
  });
  const blobs = createPrismaBlobStore(database, clock);
  const runs = new RunService({
    storage,
    clock,
    writer,
    agents: AGENTS,
    skills,
    secretBox: secrets,
    pullRequests,
    blobs,
    digest: sha256,
    log: SILENT_LOG,
    ...rules,
  });
  const hashKey = createKeyHasher(secret);
  const key = options.sharedWith?.key ?? newApiKey();
  if (options.sharedWith === undefined) {
    await storage.administrators.set(hashKey(key), keyHint(key));
  }
  const adapterSettings = new PrismaAdapterSettings({ ...stores, secrets });
  const server = await createServer({
    runs,
    skills: new SkillCatalogue(skillDeps),
    catalogue: createCatalogueView({
      catalogue: createCatalogue(),
      servers: {},
      setting: "auto",
      programs: { current: async (agent) => agent, isThere: async ({ isDemo }) => isDemo },
    }),
    doctor: new Doctor({ checks: options.checks ?? [], clock, log: skillDeps.log }),
    adapterSettings,
    installationGuides: async () => options.guides ?? [],
    principals: new PrincipalCache({ people: storage.people, pubsub: usedPubsub, clock }),
    capacity: new Capacity({ ...storage, clock }),
    storage: {
      ...storage,
      idempotentResponses: options.answers?.(storage.idempotentResponses) ?? storage.idempotentResponses,
    },
    backlog: () => readBacklog(database),
    storedBytes: new StoredBytesMeter(() => measureStoredBytes(testDatabase.url), clock),
    pullRequests: new PullRequestReader({ pullRequests, runs, clock, log: SILENT_LOG }),
    standing: new StandingOnPlatforms({ adapters: options.adapters ?? new Map(), storage, clock }),
    blobs,
    secrets,
    webhookClient: new Destinations(parseAllowList(options.webhookAllow ?? "")),
    loadWorkflowTokens: async () =>
      createWorkflowTokens({ destinations: new Destinations(parseAllowList(options.webhookAllow ?? "")) }),
    egressRanges: ["203.0.113.0/24"],
    imageRegistries: IMAGE_REGISTRIES,
    pubsub: usedPubsub,
    clock,
    nextDue,
    log: createLogger(
      "debug",
      (text) => text,
      (line) => logged.push(line),
    ),
    hashKey,
    formerHashers: formerSecrets.map(createKeyHasher),
    sessionSecret: secret,
    signInProviders: options.signInProviders ?? [],
    appManagers: options.appManagers ?? [],
    appCreators: options.appCreators?.({ ...stores, secrets }) ?? [],
    installers: options.installers?.({ ...stores, secrets }) ?? [],
    signInHelp: "Ask olga@acme.test.",
    publicUrl: options.publicUrl ?? (() => PUBLIC_URL),
    proveServer: () => undefined,
    ready: options.ready ?? (async () => undefined),
    serves: options.serves ?? "everything",
    trustProxy: options.trustProxy ?? false,
    allowedOrigins: options.allowedOrigins ?? [],
    tls: options.tls,
    adapterRoutes: options.adapterRoutes ?? [],
    limits: { ...readConfig({}).limits, pollMs: 50, rateLimit: 0, ...options.limits },
  });
  const answers = watchAnswers(server, documentedJudge);
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  return {
    ...{
      server,
      url,
      key,
      storage,
      adapterSettings,
      secrets,
      runs,
      skillLibrary,
      pubsub,
      clock,
      logged,
      databaseUrl: testDatabase.url,
    },
    addUser: (name, more) => addUser(storage, hashKey, { name, ...more }),
    revoke: (revoked) => revoke(storage, hashKey(revoked)),
    edit: (runId, change) => editRun(storage, clock, writer, runId as RunId, change),
    close: async () => {
      await server.close();
      await database.close();
      await testDatabase.drop();
      answers.verify();
    },
  };
}

function shared({ databaseUrl: url }: ApiHarness): TestDatabase {
  return { url, drop: async () => undefined };
}

type HashKey = (key: string) => string;

function sealingKey(secret: string): string {
  return deriveKey(secret, "sealing");
}

async function addUser(
  storage: Storage,
  hashKey: HashKey,
  { name, teamId = FIRST_TEAM, scopes = ["runs:write"] }: NewUser,
): Promise<string> {
  const { id } = await storage.people.ensure(teamId, `test:${name}`, name);
  const key = newApiKey();
  const keyBase = { id: randomUUID(), principalId: id, createdBy: id, createdAt: new Date() };
  await storage.keys.add({ ...keyBase, name, hint: keyHint(key), scopes }, hashKey(key));
  return key;
}

async function revoke({ keys }: Storage, hash: string): Promise<void> {
  const holder = await keys.findByHash(hash);
  if (holder === undefined) {
    return;
  }
  const { key, principal } = holder;
  await keys.change(principal.teamId, key.id, (held) => ({ ...held, revokedAt: new Date() }));
}

async function editRun(
  storage: Storage,
  clock: Clock,
  writer: NoticeWriter,
  id: RunId,
  change: (edit: RunEdit) => void,
): Promise<Run> {
  return storage.runs.change(id, (aggregate) => {
    const edit = new RunEdit(aggregate, { now: clock.now(), writer });
    change(edit);
    return edit.done();
  });
}
