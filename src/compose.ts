import { hostname } from "node:os";
import type { RunningAdapter } from "./adapters/registry.ts";
import { createAcpRunner } from "./agents/acp/acp-runner.ts";
import { type AgentCatalogue, createCatalogue } from "./agents/catalogue.ts";
import { createKeyHasher } from "./api/api-keys.ts";
import type { ApiParts } from "./api/api-parts.ts";
import type { Config } from "./config.ts";
import { RunWorker } from "./core/attempts/run-worker.ts";
import { newId } from "./core/ids.ts";
import { Intake } from "./core/intake/intake.ts";
import { Janitor } from "./core/janitor.ts";
import type { Log } from "./core/ports/log.ts";
import type { SecretBox } from "./core/ports/secret-box.ts";
import type { Storage } from "./core/ports/storage.ts";
import { RunService } from "./core/runs/run-service.ts";
import { NoticeWriter } from "./core/threads/notice-writer.ts";
import { Postman } from "./core/threads/postman.ts";
import { type Logger, plainLog } from "./log.ts";
import { PostgresNews } from "./news/postgres-news.ts";
import { PgBossQueue } from "./queue/pg-boss-queue.ts";
import { createBubblewrapSandbox } from "./sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { chooseSandbox } from "./sandboxes/choose-sandbox.ts";
import { createLocalSandbox } from "./sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";
import { createSecretBox } from "./secret-box.ts";
import { deriveKey } from "./secrets.ts";
import { createPrismaBlobStore } from "./storage/blob-store.ts";
import { Database } from "./storage/database.ts";
import { createPrismaStorage } from "./storage/prisma-storage.ts";
import { systemClock } from "./system-clock.ts";
import { createWorkspaceKeeper } from "./workspace/workspace-keeper.ts";

/** What must be known before parts can be put together: settled by `start.ts`. */
export interface Grounds {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly redact: (text: string) => string;
  readonly logger: Logger;
  readonly tls: ApiParts["tls"];
  readonly publicUrl: () => string;
}

/** The parts with a life of their own, and the services on them. */
export interface Parts {
  readonly database: Database;
  /** Connections of their own for workspaces, which are large: they must not keep the short statements waiting. */
  readonly blobs: Database;
  readonly news: PostgresNews;
  readonly queue: PgBossQueue;
  readonly storage: Storage;
  readonly hashKey: (key: string) => string;
  readonly secrets: SecretBox;
  readonly adapters: ReadonlyMap<string, RunningAdapter>;
  readonly agentName: string;
  readonly writer: NoticeWriter;
  readonly catalogue: AgentCatalogue;
  readonly runs: RunService;
  readonly intake: Intake;
  readonly postman: Postman;
}

export interface WorkerParts {
  readonly sandbox: Sandbox;
  readonly runWorker: RunWorker;
  readonly janitor: Janitor;
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
  const { config, databaseUrl: url, logger, publicUrl, secretKey } = grounds;
  const log = plainLog(logger);
  const clock = systemClock;
  const database = new Database({ url, maxConnections: config.databaseConnections, log: log.warn });
  const blobs = new Database({ url, ...BLOB_LINK, log: log.warn });
  const news = new PostgresNews({ url, log: log.warn });
  const queue = new PgBossQueue({ url, maxConnections: QUEUE_CONNECTIONS, news, log: log.warn });
  const storage = createPrismaStorage({ database, news, clock, sendJobs: queue.sendJobs });
  const adapters = await createAdapters(config, storage, log);
  const threadAdapters = new Map(Array.from(adapters, ([name, { adapter }]) => [name, adapter]));
  const traits = new Map(Array.from(threadAdapters, ([name, adapter]) => [name, adapter.traits]));
  const writer = new NoticeWriter(publicUrl, traits);
  const catalogue = createCatalogue();
  const agents = { names: new Set(catalogue.keys()), defaultName: DEFAULT_AGENT };
  const runs = new RunService({ storage, clock, writer, agents });
  const intake = new Intake({ storage, runs, adapters: threadAdapters, clock, log });
  const postman = new Postman({ outbox: storage.outbox, adapters: threadAdapters, log });
  const hashKey = createKeyHasher(deriveKey(secretKey, "api-keys"));
  return {
    database,
    blobs,
    news,
    queue,
    storage,
    hashKey,
    secrets: createSecretBox([deriveKey(secretKey, "sealing")]),
    adapters,
    agentName: DEFAULT_AGENT,
    writer,
    catalogue,
    runs,
    intake,
    postman,
  };
}

/** What only a worker has. Fails with an AppError when there is no sandbox for the agent. */
export async function composeWorker(grounds: Grounds, parts: Parts): Promise<WorkerParts> {
  const { config, logger, redact } = grounds;
  const { blobs, catalogue, news, queue, storage, writer } = parts;
  const log = plainLog(logger);
  const sandbox = await sandboxFor(config, catalogue);
  const runWorker = new RunWorker({
    storage,
    news,
    log,
    redact,
    clock: systemClock,
    writer,
    agents: createAcpRunner({ catalogue, sandbox, log: logger }),
    workspaces: createWorkspaceKeeper({
      dataDir: config.dataDir,
      blobs: createPrismaBlobStore(blobs, systemClock),
    }),
    leaseMs: LEASE_MS,
    worker: `${hostname()}:${process.pid}`,
  });
  return { sandbox, runWorker, janitor: new Janitor({ storage, queue, runWorker, log }) };
}

export function apiParts(grounds: Grounds, parts: Parts): ApiParts {
  const { database, hashKey, news, runs, storage } = parts;
  return {
    runs,
    storage,
    secrets: parts.secrets,
    news,
    clock: systemClock,
    log: grounds.logger,
    hashKey,
    sessionSecret: deriveKey(grounds.secretKey, "cookies"),
    publicUrl: grounds.publicUrl,
    serves: grounds.config.role === "worker" ? "health" : "everything",
    trustProxy: grounds.config.trustProxy,
    tls: grounds.tls,
    ready: () => database.unreachable(),
    adapterRoutes: Array.from(parts.adapters.values(), ({ routes }) => routes),
  };
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
