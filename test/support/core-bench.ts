import { MemoryAdapter } from "../../src/adapters/memory/memory-adapter.ts";
import { RunWorker, type RunWorkerParts } from "../../src/core/attempts/run-worker.ts";
import { EnvironmentService } from "../../src/core/environments/environment-service.ts";
import type { RunId } from "../../src/core/ids.ts";
import { Intake } from "../../src/core/intake/intake.ts";
import { Janitor } from "../../src/core/janitor.ts";
import type { Principal } from "../../src/core/people/principal.ts";
import { FIRST_TEAM } from "../../src/core/people/team.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { RunRedactors } from "../../src/core/ports/redactor.ts";
import type { Storage } from "../../src/core/ports/storage.ts";
import { runRules } from "../../src/core/rules/run-rules.ts";
import type { RunEvent } from "../../src/core/runs/events.ts";
import type { NewRun } from "../../src/core/runs/new-run.ts";
import type { FollowUpDelivery, Run } from "../../src/core/runs/run.ts";
import { RunService } from "../../src/core/runs/run-service.ts";
import { SkillFinder } from "../../src/core/skills/skill-finder.ts";
import { NoticeWriter } from "../../src/core/threads/notice-writer.ts";
import { Postman } from "../../src/core/threads/postman.ts";
import { MemoryNews } from "../../src/news/memory-news.ts";
import { MemoryQueue } from "../../src/queue/memory-queue.ts";
import { createKnownSecrets } from "../../src/redaction.ts";
import { createSecretBox } from "../../src/secret-box.ts";
import { MemorySkillLibrary } from "../../src/skills/memory-skill-library.ts";
import { createMemoryBlobStore } from "../../src/storage/memory/blob-store.ts";
import { createMemoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { agentChoice } from "./agent-choice.ts";
import { ManualClock, quiet } from "./manual-clock.ts";
import { MemoryChanges } from "./memory-changes.ts";
import { MemoryGateways } from "./memory-gateways.ts";
import { MemoryPullRequests } from "./memory-pull-requests.ts";
import { MemoryWorkspaces } from "./memory-workspaces.ts";
import { ScriptedAgents } from "./scripted-agents.ts";
import { StorageFaults } from "./storage-faults.ts";
import { wholeLog } from "./whole-log.ts";

export const LEASE_MS = 10_000;
const MINUTE_MS = 60_000;
export const LIMITS = {
  inactivityMs: 15 * MINUTE_MS,
  turnMs: 120 * MINUTE_MS,
  runMs: 360 * MINUTE_MS,
  logMib: 256,
};

/** The core on memory twins, put together as in production; nothing happens but by promises and the clock. */
export class CoreBench {
  readonly clock = new ManualClock();
  readonly news = new MemoryNews();
  readonly queue = new MemoryQueue(this.clock);
  readonly faults: StorageFaults;
  readonly storage: Storage;
  readonly adapter = new MemoryAdapter();
  /** What the twins below did, in its order. */
  readonly journal: string[] = [];
  readonly agents = new ScriptedAgents(this.journal);
  readonly gateways = new MemoryGateways(this.journal);
  readonly workspaces = new MemoryWorkspaces(this.journal);
  readonly changes = new MemoryChanges(this.journal);
  readonly pullRequests = new MemoryPullRequests();
  readonly secretBox = createSecretBox([Buffer.alloc(32, 1).toString("base64url")]);
  readonly skills = new MemorySkillLibrary();
  readonly blobs = createMemoryBlobStore(this.clock);
  readonly logged: { readonly message: string; readonly facts: Record<string, unknown> | undefined }[] = [];
  readonly runs: RunService;
  readonly intake: Intake;
  readonly postman: Postman;
  readonly #workerParts: RunWorkerParts;

  constructor() {
    const { clock, news, queue } = this;
    const { sendJobs } = queue;
    this.faults = new StorageFaults(createMemoryStorage({ clock, news, sendJobs }));
    this.storage = this.faults.storage;
    const { storage } = this;
    const log = this.#log();
    const adapters = new Map([[this.adapter.name, this.adapter]]);
    const writer = new NoticeWriter(() => "http://here", new Map([[this.adapter.name, this.adapter.traits]]));
    const agents = agentChoice("scripted", "other");
    const environments = new EnvironmentService({ environments: storage.environments, clock });
    const skills = new SkillFinder({ library: this.skills, environments });
    this.runs = new RunService({
      storage,
      clock,
      writer,
      agents,
      skills,
      ...runRules({ storage, news, clock }),
    });
    this.intake = new Intake({ storage, runs: this.runs, adapters, clock, log });
    this.postman = new Postman({ outbox: storage.outbox, adapters, log });
    const { secretBox } = this;
    const settings = { ...LIMITS, pullRequests: "draft" } as const;
    const worker = { worker: "worker-1", leaseMs: LEASE_MS, settings, redactors: REDACTORS, secretBox };
    const { agents: runner, blobs, changes, gateways, pullRequests, workspaces } = this;
    const shared = { skills: this.skills, blobs, workspaces, gateways, changes, pullRequests };
    this.#workerParts = { storage, news, clock, writer, log, ...shared, agents: runner, ...worker };
  }

  worker(changes: Partial<RunWorkerParts> = {}): RunWorker {
    return new RunWorker({ ...this.#workerParts, ...changes });
  }

  janitor(): Janitor {
    const { blobs, clock, queue, storage } = this;
    return new Janitor({ storage, blobs, queue, clock, log: this.#log(), runWorker: this.worker() });
  }

  /** Begins to do what the jobs ask for. */
  async start(worker = this.worker()): Promise<void> {
    await this.queue.work("run", 4, (key, stop) => worker.work(key as RunId, stop));
    await this.queue.work("inbox", 4, (key, stop) => this.intake.work(key, stop));
    await this.queue.work("deliver", 4, (key, stop) => this.postman.work(key, stop));
    await quiet();
  }

  person(name = "Ada"): Promise<Principal> {
    return this.storage.people.ensure(FIRST_TEAM, `memory:${name}`, name);
  }

  async create(request: Partial<NewRun> = {}): Promise<Run> {
    const creator = await this.person();
    return this.runs.create({ prompt: "Fix it", source: "API", creator, ...request });
  }

  async run(id: RunId): Promise<Run> {
    const run = await this.storage.runs.find({ id });
    if (run === undefined) throw new Error("There is no such run.");
    return run;
  }

  events(id: RunId): Promise<readonly RunEvent[]> {
    return wholeLog(this.storage.runs, id);
  }

  async followUp(id: RunId, message: string, delivery: FollowUpDelivery = "queue"): Promise<void> {
    const viewer = await this.person();
    await this.runs.followUp(id, viewer, { message, delivery, authorId: viewer.id });
    await quiet();
  }

  async cancel(id: RunId): Promise<void> {
    await this.runs.cancel(id, await this.person());
    await quiet();
  }

  #log(): Log {
    const keep = (message: string, facts?: Record<string, unknown>) => {
      this.logged.push({ message, facts });
    };
    return { info: keep, warn: keep, error: keep };
  }
}

/** The platform's own secret is short, so that tests can read. */
const REDACTORS: RunRedactors = {
  lend(secrets) {
    const known = createKnownSecrets([]).lend(secrets);
    return { ...known, redact: (text) => known.redact(text).replaceAll("s3cret", "[redacted]") };
  },
};
