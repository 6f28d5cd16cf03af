import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { pino } from "pino";
import { createKeyHasher, keyHint, newApiKey } from "../../../src/api/api-keys.ts";
import { type ApiLimits, type ApiParts, createServer } from "../../../src/api/server.ts";
import type { RunId, TeamId } from "../../../src/core/ids.ts";
import type { Scope } from "../../../src/core/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import type { Clock } from "../../../src/core/ports/clock.ts";
import type { News } from "../../../src/core/ports/news.ts";
import type { AnswerStore, Storage } from "../../../src/core/ports/storage.ts";
import type { Run } from "../../../src/core/runs/run.ts";
import { RunEdit } from "../../../src/core/runs/run-edit.ts";
import { RunService } from "../../../src/core/runs/run-service.ts";
import { NoticeWriter } from "../../../src/core/threads/notice-writer.ts";
import { createSecretBox } from "../../../src/secret-box.ts";
import { deriveKey } from "../../../src/secrets.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { systemClock } from "../../../src/system-clock.ts";
import { createTestDatabase } from "../../support/test-database.ts";

export interface BenchOptions {
  readonly limits?: Partial<ApiLimits>;
  readonly adapterRoutes?: readonly FastifyPluginAsync[];
  readonly serves?: ApiParts["serves"];
  readonly trustProxy?: ApiParts["trustProxy"];
  readonly tls?: ApiParts["tls"];
  readonly ready?: () => Promise<string | undefined>;
  readonly answers?: (answers: AnswerStore) => AnswerStore;
}

interface NewUser {
  readonly name: string;
  readonly teamId?: TeamId;
  readonly scopes?: readonly Scope[];
}

export interface ApiBench {
  readonly server: FastifyInstance;
  /** Of the server as it listens on a free port. */
  readonly url: string;
  readonly key: string;
  readonly storage: Storage;
  readonly runs: RunService;
  readonly news: LocalNews;
  readonly clock: TestClock;
  /** All that was logged, as text. */
  readonly logged: string[];
  /** A user's key, which may start and read runs unless told. */
  addUser(name: string, more?: Omit<NewUser, "name">): Promise<string>;
  revoke(key: string): Promise<void>;
  /** Changes a run as a worker would. */
  edit(runId: string, change: (edit: RunEdit) => void): Promise<Run>;
  close(): Promise<void>;
}

/** News that stays in this process; `isSilent` loses all of it. */
export class LocalNews implements News {
  isSilent = false;
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Who listens to runs. */
  get listenerCount(): number {
    const ofRuns = Array.from(this.#listeners).filter(([topic]) => topic.startsWith("run:"));
    return ofRuns.reduce((sum, [, listeners]) => sum + listeners.size, 0);
  }

  tell(topics: readonly string[]): void {
    if (this.isSilent) return;
    for (const topic of topics) {
      for (const listener of this.#listeners.get(topic) ?? []) listener();
    }
  }

  on(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}

/** The real time, moved ahead by hand. */
export class TestClock implements Clock {
  aheadMs = 0;

  readonly every = systemClock.every;
  readonly after = systemClock.after;

  now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

export const PUBLIC_URL = "http://127.0.0.1:8787";
const SECRET = "a secret of this test";
const AGENTS = { names: new Set(["demo", "codex"]), defaultName: "demo" };

/** The whole HTTP side on a real database, listening on a free port. */
export async function startBench(options: BenchOptions = {}): Promise<ApiBench> {
  const testDatabase = await createTestDatabase();
  const database = new Database({ url: testDatabase.url, maxConnections: 8, log: () => undefined });
  const [news, clock, logged] = [new LocalNews(), new TestClock(), [] as string[]];
  const storage = createPrismaStorage({ database, news, clock, sendJobs: async () => undefined });
  const writer = new NoticeWriter(() => PUBLIC_URL, new Map());
  const runs = new RunService({ storage, clock, writer, agents: AGENTS });
  const hashKey = createKeyHasher(SECRET);
  const key = newApiKey();
  await storage.administrators.set(hashKey(key), keyHint(key));
  const server = await createServer({
    runs,
    storage: { ...storage, answers: options.answers?.(storage.answers) ?? storage.answers },
    secrets: createSecretBox([deriveKey(SECRET, "sealing")]),
    news,
    clock,
    log: pino({ level: "debug" }, { write: (line: string) => void logged.push(line) }),
    hashKey,
    sessionSecret: SECRET,
    publicUrl: () => PUBLIC_URL,
    ready: options.ready ?? (async () => undefined),
    serves: options.serves ?? "everything",
    trustProxy: options.trustProxy ?? false,
    tls: options.tls,
    adapterRoutes: options.adapterRoutes ?? [],
    limits: { pollMs: 50, ...options.limits },
  });
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  return {
    ...{ server, url, key, storage, runs, news, clock, logged },
    addUser: (name, more) => addUser(storage, database, hashKey, { name, ...more }),
    revoke: (revoked) => revoke(storage, hashKey(revoked)),
    edit: (runId, change) => editRun(storage, clock, writer, runId as RunId, change),
    close: async () => {
      await server.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

type HashKey = (key: string) => string;

async function addUser(
  storage: Storage,
  database: Database,
  hashKey: HashKey,
  { name, teamId = FIRST_TEAM, scopes = ["runs:write"] }: NewUser,
): Promise<string> {
  const { id } = await storage.people.ensure(teamId, `test:${name}`, name);
  const key = newApiKey();
  await database.transaction((tx) =>
    tx.apiKey.create({ data: { hash: hashKey(key), principalId: id, scopes: [...scopes] } }),
  );
  return key;
}

async function revoke({ keys }: Storage, hash: string): Promise<void> {
  const holder = await keys.findByHash(hash);
  if (holder !== undefined) await keys.update({ ...holder.key, revokedAt: new Date() });
}

async function editRun(
  storage: Storage,
  clock: Clock,
  writer: NoticeWriter,
  id: RunId,
  change: (edit: RunEdit) => void,
): Promise<Run> {
  return storage.runs.change(id, (subject) => {
    const edit = new RunEdit(subject, { now: clock.now(), writer });
    change(edit);
    return edit.done();
  });
}
