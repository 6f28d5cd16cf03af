import { sha256 } from "../../src/app/system.ts";
import type { RunId } from "../../src/core/basics/ids.ts";
import type { Log } from "../../src/core/basics/log.ts";
import type { Principal } from "../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import type { RunEvent } from "../../src/core/model/runs/events.ts";
import type { FollowUpDelivery } from "../../src/core/model/runs/follow-up.ts";
import type { Run } from "../../src/core/model/runs/run.ts";
import type { RunRedactors } from "../../src/core/ports/redactor.ts";
import type { Storage } from "../../src/core/ports/stores/storage.ts";
import type { NewRun } from "../../src/core/requests/prepare/new-run.ts";
import { PullRequestReader } from "../../src/core/requests/pull-request-reader.ts";
import { RequestDefaultsService } from "../../src/core/requests/routing/request-defaults-service.ts";
import { RunService } from "../../src/core/requests/run-service.ts";
import { SkillFinder } from "../../src/core/requests/skills/skill-finder.ts";
import { NoticeWriter } from "../../src/core/runs/notice-writer.ts";
import { InstallationHealth } from "../../src/core/team/people/installation-health.ts";
import { PrincipalJoins } from "../../src/core/team/people/principal-joins.ts";
import { runRules } from "../../src/core/team/policies/run-rules.ts";
import { EnvironmentService } from "../../src/core/team/records/environment-service.ts";
import { InboxProcessor } from "../../src/core/threads/inbox/inbox-processor.ts";
import { OutboxDispatcher } from "../../src/core/threads/outbox/outbox-dispatcher.ts";
import { LostRuns } from "../../src/core/upkeep/lost-runs.ts";
import { Maintenance } from "../../src/core/upkeep/maintenance.ts";
import { RunLoop } from "../../src/core/work/attempts/run-loop.ts";
import { RunWorker, type RunWorkerDeps } from "../../src/core/work/attempts/run-worker.ts";
import { WaitingAgents } from "../../src/core/work/lease/waiting-agents.ts";
import { StartTimes } from "../../src/core/work/log/start-times.ts";
import { createSchemaChecker } from "../../src/json-schema/schema-checker.ts";
import { createKnownSecrets } from "../../src/secrets/redaction.ts";
import { createSecretBox } from "../../src/secrets/secret-box.ts";
import { agentChoice } from "./agent-choice.ts";
import { ManualClock, quiet } from "./manual-clock.ts";
import { InMemoryAdapter } from "./memory/in-memory-adapter.ts";
import { InMemoryChanges } from "./memory/in-memory-changes.ts";
import { InMemoryGateways } from "./memory/in-memory-gateways.ts";
import { InMemoryPubSub } from "./memory/in-memory-pubsub.ts";
import { InMemoryPullRequests } from "./memory/in-memory-pull-requests.ts";
import { InMemoryQueue } from "./memory/in-memory-queue.ts";
import { InMemorySkillLibrary } from "./memory/in-memory-skill-library.ts";
import { InMemoryWorkspaces } from "./memory/in-memory-workspaces.ts";
import { createInMemoryBlobStore } from "./memory/storage/blob-store.ts";
import { createInMemoryStorage } from "./memory/storage/in-memory-storage.ts";
import { ScriptedAgents } from "./scripted-agents.ts";
import { StorageFaults } from "./storage-faults.ts";
import { wholeLog } from "./whole-log.ts";

export const LEASE_MS = 7_000;
const MINUTE_MS = 60_000;
const SLOTS = 4;
export const LIMITS = {
  inactivityMs: 15 * MINUTE_MS,
  turnMs: 120 * MINUTE_MS,
  attemptMs: 360 * MINUTE_MS,
  logMib: 256,
  checkpointMs: 5 * MINUTE_MS,
  workspaceGib: 20,
};

/** The slot of a run that no loop began. */
const UNLIMITED = { release: () => undefined, reacquire: async () => undefined };

/** A run worker that works on one run when a test says so. */
export class HarnessWorker extends RunWorker {
  /** Claims the next run, which is the given one in these tests, and works on it. */
  async work(_id: RunId, stop: AbortSignal): Promise<void> {
    const claimed = await this.claim(stop);
    if (typeof claimed !== "string") {
      await this.perform(claimed, stop, UNLIMITED);
    }
  }
}

/** The core on in-memory fakes, wired as in production. Only promises and the clock make anything happen. */
export class CoreHarness {
  readonly clock = new ManualClock();
  readonly pubsub = new InMemoryPubSub();
  readonly queue = new InMemoryQueue(this.clock);
  readonly faults: StorageFaults;
  readonly storage: Storage;
  readonly adapter = new InMemoryAdapter();
  /** The actions of the fakes below, in order. */
  readonly journal: string[] = [];
  readonly agents = new ScriptedAgents(this.journal);
  readonly gateways = new InMemoryGateways(this.journal);
  readonly workspaces = new InMemoryWorkspaces(this.journal);
  readonly changes = new InMemoryChanges(this.journal);
  readonly pullRequests = new InMemoryPullRequests();
  readonly secretBox = createSecretBox([Buffer.alloc(32, 1).toString("base64url")]);
  readonly skills = new InMemorySkillLibrary();
  readonly blobs = createInMemoryBlobStore(this.clock);
  readonly logged: { readonly message: string; readonly facts: Record<string, unknown> | undefined }[] = [];
  readonly runs: RunService;
  readonly requestDefaults: RequestDefaultsService;
  readonly joins: PrincipalJoins;
  readonly installationHealth: InstallationHealth;
  readonly inboxProcessor: InboxProcessor;
  readonly outboxDispatcher: OutboxDispatcher;
  isMemoryShort = false;
  readonly #workerDeps: RunWorkerDeps;
  readonly #runLoops: RunLoop[] = [];

  constructor() {
    const { clock, pubsub, queue } = this;
    const { sendJobs } = queue;
    this.faults = new StorageFaults(createInMemoryStorage({ clock, pubsub, sendJobs }));
    this.storage = this.faults.storage;
    const { storage } = this;
    const log = this.#log();
    const adapters = new Map([[this.adapter.name, this.adapter]]);
    const writer = new NoticeWriter(() => "http://here", new Map([[this.adapter.name, this.adapter.traits]]));
    const agents = agentChoice("scripted", "other");
    const environments = new EnvironmentService({ storage, clock, imageRegistries: ["docker.io"] });
    const skills = new SkillFinder({ library: this.skills, environments });
    const rules = runRules({ storage, pubsub, clock });
    this.runs = new RunService({
      storage,
      clock,
      writer,
      agents,
      skills,
      secretBox: this.secretBox,
      pullRequests: this.pullRequests,
      blobs: this.blobs,
      digest: sha256,
      log,
      ...rules,
    });
    this.requestDefaults = new RequestDefaultsService({ storage, digest: sha256, clock });
    this.joins = new PrincipalJoins({ storage, box: this.secretBox, digest: sha256, log });
    this.installationHealth = new InstallationHealth({ installations: storage.installations, clock, log });
    const { installationHealth } = this;
    this.inboxProcessor = new InboxProcessor({
      storage,
      runs: this.runs,
      joins: this.joins,
      policies: rules.policies,
      pullRequests: new PullRequestReader({ pullRequests: this.pullRequests, runs: this.runs, clock, log }),
      adapters,
      blobs: this.blobs,
      requestDefaults: this.requestDefaults,
      changesDefault: "draft",
      gitUrl: "https://github.com",
      installationHealth,
      clock,
      log,
    });
    this.outboxDispatcher = new OutboxDispatcher({
      outbox: storage.outbox,
      adapters,
      runs: this.runs,
      installationHealth,
      log,
    });
    const { secretBox } = this;
    const settings = { ...LIMITS, pullRequests: "draft" } as const;
    const worker = {
      worker: "worker-1",
      disk: "disk-1",
      leaseMs: LEASE_MS,
      settings,
      redactors: REDACTORS,
      schemas: createSchemaChecker(),
      secretBox,
    };
    const { agents: runner, blobs, changes, gateways, pullRequests, workspaces } = this;
    const waitingAgents = new WaitingAgents({
      max: 4 * SLOTS,
      isMemoryShort: async () => this.isMemoryShort,
      ...{ clock, log },
    });
    const startTimes = new StartTimes();
    const shared = {
      waitingAgents,
      startTimes,
      skills: this.skills,
      blobs,
      workspaces,
      gateways,
      changes,
      pullRequests,
    };
    this.#workerDeps = { storage, pubsub, clock, writer, log, ...shared, agents: runner, ...worker };
  }

  worker(changes: Partial<RunWorkerDeps> = {}): HarnessWorker {
    return new HarnessWorker({ ...this.#workerDeps, ...changes });
  }

  maintenance(): Maintenance {
    const { blobs, clock, queue, storage } = this;
    const deletedRuns = { prune: async () => 0 };
    return new Maintenance({
      storage,
      adapters: new Map([[this.adapter.name, this.adapter]]),
      blobs,
      eventBodyMs: 7 * 86_400_000,
      deletedRuns,
      checkpoints: { prune: async () => 0 },
      joins: this.joins,
      history: { prune: async () => 0 },
      queue,
      clock,
      log: this.#log(),
    });
  }

  lostRuns(): LostRuns {
    return new LostRuns({ ...this.#workerDeps, storage: this.storage });
  }

  /** Starts to handle jobs. */
  async start(worker = this.worker()): Promise<void> {
    this.startRuns(worker);
    await this.queue.work("inbox", 4, (key, stop) => this.inboxProcessor.work(key, stop));
    await this.queue.work("deliver", 4, (key, stop) => this.outboxDispatcher.work(key, stop));
    await quiet();
  }

  /** Starts to claim runs. */
  startRuns(worker = this.worker(), slots = SLOTS): RunLoop {
    const { clock, pubsub } = this;
    const loop = new RunLoop({ worker, slots, pubsub, clock: clock.forPolling(), log: this.#log() });
    this.#runLoops.push(loop);
    return loop;
  }

  /** Stops to claim runs, and asks the attempts to hand back theirs. */
  async stopRuns(graceMs: number): Promise<void> {
    await Promise.all(this.#runLoops.map((loop) => loop.stop(graceMs)));
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
    if (run === undefined) {
      throw new Error("There is no such run.");
    }
    return run;
  }

  events(id: RunId): Promise<readonly RunEvent[]> {
    return wholeLog(this.storage.runs, id);
  }

  async followUp(
    id: RunId,
    message: string,
    delivery: FollowUpDelivery = "queue",
    isPrivate = false,
  ): Promise<void> {
    const viewer = await this.person();
    await this.runs.followUps.send(id, viewer, {
      message,
      delivery,
      authorId: viewer.id,
      private: isPrivate,
    });
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

/** Also redacts a short secret, so that tests are easy to read. */
const REDACTORS: RunRedactors = {
  create(secrets, paths) {
    const known = createKnownSecrets([]).create(secrets, paths);
    return { ...known, redact: (text) => known.redact(text).replaceAll("s3cret", "[redacted]") };
  },
};
