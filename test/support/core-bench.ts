import { MemoryAdapter } from "../../src/adapters/memory/memory-adapter.ts";
import { RunWorker, type RunWorkerParts } from "../../src/core/attempts/run-worker.ts";
import { EnvironmentService } from "../../src/core/environments/environment-service.ts";
import type { RunId } from "../../src/core/ids.ts";
import { Intake } from "../../src/core/intake/intake.ts";
import type { Principal } from "../../src/core/people/principal.ts";
import { FIRST_TEAM } from "../../src/core/people/team.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { RunRedactors } from "../../src/core/ports/redactor.ts";
import type { Storage } from "../../src/core/ports/storage.ts";
import type { Beginning, Collected, WorkspaceKeeper } from "../../src/core/ports/workspace.ts";
import { runRules } from "../../src/core/rules/run-rules.ts";
import type { RunEvent } from "../../src/core/runs/events.ts";
import type { NewRun } from "../../src/core/runs/new-run.ts";
import type { Run } from "../../src/core/runs/run.ts";
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
import { ManualClock, quiet } from "./manual-clock.ts";
import { ScriptedAgents } from "./scripted-agents.ts";
import { StorageFaults } from "./storage-faults.ts";

export const LEASE_MS = 10_000;

/** The core on memory twins, put together as in production; nothing happens but by promises and the clock. */
export class CoreBench {
  readonly clock = new ManualClock();
  readonly news = new MemoryNews();
  readonly queue = new MemoryQueue(this.clock);
  readonly faults: StorageFaults;
  readonly storage: Storage;
  readonly adapter = new MemoryAdapter();
  readonly agents = new ScriptedAgents();
  readonly workspaces = new MemoryWorkspaces();
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
    const agents = { names: new Set(["scripted", "other"]), defaultName: "scripted" };
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
    const worker = { worker: "worker-1", leaseMs: LEASE_MS, redactors: REDACTORS, secretBox };
    const { agents: runner, blobs, workspaces } = this;
    const shared = { skills: this.skills, blobs, workspaces };
    this.#workerParts = { storage, news, clock, writer, log, ...shared, agents: runner, ...worker };
  }

  worker(changes: Partial<RunWorkerParts> = {}): RunWorker {
    return new RunWorker({ ...this.#workerParts, ...changes });
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
    return this.storage.runs.readEvents(id, 0, 10_000);
  }

  async followUp(id: RunId, message: string, delivery: "queue" | "interrupt" = "queue"): Promise<void> {
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

/** Workspaces that are names only. */
class MemoryWorkspaces implements WorkspaceKeeper {
  readonly checkpoints: string[] = [];
  readonly forgotten: string[] = [];
  /** Each strikes the next checkpoint. */
  readonly faults: Error[] = [];
  /** Each strikes the next workspace that is prepared. */
  readonly prepareFaults: Error[] = [];

  /** What the new workspaces held. */
  readonly beginnings: Beginning[] = [];
  /** What is found in workspaces at the next ends of turns. */
  readonly found: Collected[] = [];
  /** What was known each time. */
  readonly known: ReadonlyMap<string, string>[] = [];

  async prepare(
    runId: RunId,
    checkpoint: string | undefined,
    beginning?: () => Promise<Beginning>,
  ): Promise<{ directory: string; home: string }> {
    const begun = checkpoint === undefined ? await beginning?.() : undefined;
    const fault = this.prepareFaults.shift();
    if (fault !== undefined) throw fault;
    if (begun !== undefined) this.beginnings.push(begun);
    return { directory: `/runs/${runId}/workspace`, home: `/runs/${runId}/home` };
  }

  async checkpoint(): Promise<string> {
    const fault = this.faults.shift();
    if (fault !== undefined) throw fault;
    this.checkpoints.push(`checkpoint-${this.checkpoints.length + 1}`);
    return this.checkpoints.at(-1) ?? "";
  }

  async collect(_runId: RunId, known: ReadonlyMap<string, string>): Promise<Collected> {
    this.known.push(known);
    return this.found.shift() ?? { files: [], leftOut: [] };
  }

  async forget(checkpoint: string): Promise<void> {
    this.forgotten.push(checkpoint);
  }
}
