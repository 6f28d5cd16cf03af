import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { createAcpRunner } from "../agents/acp/acp-runner.ts";
import type { AcpRunnerOptions } from "../agents/acp/runner-options.ts";
import { warmStarter } from "../agents/acp/warm/start-warm-agent.ts";
import { WarmAgents } from "../agents/acp/warm/warm-agents.ts";
import { GIBIBYTE } from "../core/basics/byte-units.ts";
import { defined } from "../core/basics/defined.ts";
import type { RunId } from "../core/basics/ids.ts";
import type { Log } from "../core/basics/log.ts";
import type { GatewayAccess, ReservableGateways } from "../core/ports/gateway.ts";
import { Scheduler } from "../core/requests/schedules/scheduler.ts";
import type { NoticeWriter } from "../core/runs/notice-writer.ts";
import { WebhookFanOut } from "../core/team/webhooks/webhook-fan-out.ts";
import { WebhookSender } from "../core/team/webhooks/webhook-sender.ts";
import type { WebhookWorkerDeps } from "../core/team/webhooks/webhook-worker.ts";
import { EventRecovery, type LostEvents } from "../core/threads/inbox/event-recovery.ts";
import { Heartbeat } from "../core/upkeep/heartbeat.ts";
import { Maintenance } from "../core/upkeep/maintenance.ts";
import { SecretKeyRotation } from "../core/upkeep/secret-key-rotation.ts";
import { RunWorker, type RunWorkerDeps } from "../core/work/attempts/run-worker.ts";
import { WaitingAgents } from "../core/work/lease/waiting-agents.ts";
import { StartTimes } from "../core/work/log/start-times.ts";
import { createGateways } from "../gateway/create-gateways.ts";
import { gatewayVariables } from "../gateway/gateway-variables.ts";
import { RepositoryClones } from "../git/repository-clones.ts";
import { createSchemaChecker } from "../json-schema/schema-checker.ts";
import { Destinations } from "../outgoing/destinations.ts";
import type { ChosenSandbox } from "../sandboxes/choose-sandbox.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { pruneHistory } from "../storage/prune-history.ts";
import { PrismaSealedValueStore } from "../storage/sealed-value-store.ts";
import { expireCheckpoints, whileStored } from "../storage/stored-workspaces.ts";
import { createChangeTracker } from "../workspace/changes/change-tracker.ts";
import { removeDeletedRuns } from "../workspace/deleted-runs.ts";
import { removeTree } from "../workspace/file-trees.ts";
import { LocalDisk } from "../workspace/local-disk.ts";
import { type DirectoryQuota, findProjectQuota } from "../workspace/project-quota.ts";
import { createWorkspaceProvider } from "../workspace/workspace-provider.ts";
import { type AppDeps, type Bootstrap, hostOf } from "./compose.ts";
import { compatibleServerOf, defaultModelOf } from "./compose-agents.ts";
import { composeSandbox } from "./compose-sandbox.ts";
import { nextDue } from "./cron.ts";
import { plainLog } from "./logger.ts";
import { isMemoryShort } from "./short-memory.ts";
import { systemClock } from "./system.ts";

export interface WorkerDeps {
  readonly chosen: ChosenSandbox;
  readonly clones: RepositoryClones;
  /** Undefined: all agents start for their run. */
  readonly warm: WarmAgents | undefined;
  readonly runWorker: RunWorker;
  readonly maintenance: Maintenance;
  readonly eventRecovery: EventRecovery;
  /** Only while earlier secret keys are set. */
  readonly secretKeyRotation: SecretKeyRotation | undefined;
  readonly scheduler: Scheduler;
  readonly heartbeat: Heartbeat;
  readonly localDisk: LocalDisk;
  readonly webhooks: WebhookWorkerDeps;
}

/** A worker that is silent for this long has lost its runs. */
const LEASE_MS = 7_000;
const MINUTE_MS = 60_000;
/** All setup commands of an environment together may take this many times as long as one. */
const SETUP_COMMANDS_TOTAL = 3;

/** Creates what only a worker needs. Fails with an AppError when the sandbox that the operator named does not work. */
export async function composeWorker(bootstrap: Bootstrap, deps: AppDeps): Promise<WorkerDeps> {
  const { config, logger } = bootstrap;
  const { storage } = deps;
  const log = plainLog(logger);
  const chosen = await composeSandbox(config, log);
  const host = hostOf(config);
  // The random part makes the name unique, even beside a process with the same number on a host with the same name.
  const worker = `${hostname()}:${process.pid}:${randomBytes(3).toString("hex")}`;
  const { dataDir, gitUrl: baseUrl } = config;
  const { authorize, committerOf } = deps;
  const limits = { silenceMs: config.gitWaitMinutes * MINUTE_MS };
  const clones = new RepositoryClones({ dataDir, baseUrl, authorize, committerOf, log, limits });
  const disk = deps.disk === undefined ? {} : { disk: deps.disk };
  const maxBytes = config.work.workspaceGib * GIBIBYTE;
  const quota = await findProjectQuota({ dataDir, maxBytes, log });
  const startTimes = new StartTimes();
  const { warm, ...runDependencies } = runDeps(bootstrap, deps, { chosen, clones, quota });
  const runWorker = new RunWorker({
    ...host,
    ...disk,
    startTimes,
    ...runDependencies,
    ...defined({ images: chosen.sandbox.images }),
    worker,
  });
  const localDisk = composeDisk(bootstrap, deps, chosen);
  const heartbeat = new Heartbeat({
    disk: localDisk,
    startTimes,
    workers: storage.workers,
    clock: systemClock,
    log,
    worker: { id: worker, ...host, ...disk, slots: config.concurrency, sandbox: chosen.sandbox },
  });
  return {
    chosen,
    clones,
    warm,
    runWorker,
    heartbeat,
    localDisk,
    maintenance: composeMaintenance(bootstrap, deps),
    eventRecovery: new EventRecovery({ lostEvents: lostEventsOf(deps), storage, clock: systemClock, log }),
    secretKeyRotation: composeSecretKeyRotation(bootstrap, deps),
    scheduler: composeScheduler(bootstrap, deps),
    webhooks: composeWebhooks(bootstrap, deps),
  };
}

/** Seals the values of former keys anew. Undefined if there are no former keys. */
function composeSecretKeyRotation(
  { config, logger }: Bootstrap,
  { database, secrets: box }: AppDeps,
): SecretKeyRotation | undefined {
  const values = new PrismaSealedValueStore(database);
  return config.oldSecretKeys.length === 0
    ? undefined
    : new SecretKeyRotation({ values, box, log: plainLog(logger) });
}

function composeDisk({ config, logger }: Bootstrap, { database }: AppDeps, chosen: ChosenSandbox): LocalDisk {
  return new LocalDisk({
    dataDir: config.dataDir,
    limits: config.disk,
    log: plainLog(logger),
    sweep: () => chosen.sweep(),
    whileStored: (runId, remove) => whileStored(database, { runId, gapsMs: config.checkpointsMs }, remove),
  });
}

function composeMaintenance({ config, logger }: Bootstrap, deps: AppDeps): Maintenance {
  const { blobs, database, queue, storage, threadAdapters } = deps;
  return new Maintenance({
    storage,
    adapters: threadAdapters,
    blobs,
    eventBodyMs: config.eventBodyMs,
    joins: deps.joins,
    checkpoints: { prune: () => expireCheckpoints(database, config.checkpointsMs) },
    history: { prune: () => pruneHistory(database, config.historyMs) },
    deletedRuns: { prune: () => removeDeletedRuns(config.dataDir, existsIn(storage)) },
    queue,
    clock: systemClock,
    log: plainLog(logger),
  });
}

interface AttemptTools {
  readonly chosen: ChosenSandbox;
  readonly clones: RepositoryClones;
  readonly quota: DirectoryQuota | undefined;
}

function runDeps(
  bootstrap: Bootstrap,
  deps: AppDeps,
  tools: AttemptTools,
): Omit<RunWorkerDeps, "worker" | "host" | "disk" | "startTimes"> & Pick<WorkerDeps, "warm"> {
  const { config, knownSecrets, logger } = bootstrap;
  const { blobs: files, pubsub, storage, writer } = deps;
  const log = plainLog(logger);
  return {
    storage,
    pubsub,
    writer,
    log,
    ...attemptDeps(bootstrap, deps, tools),
    waitingAgents: new WaitingAgents({
      max: config.waitingAgents,
      isMemoryShort: () => isMemoryShort(),
      clock: systemClock,
      log,
    }),
    clock: systemClock,
    redactors: knownSecrets,
    secretBox: deps.secrets,
    blobs: files,
    skills: deps.skillLibrary,
    schemas: createSchemaChecker(),
    pullRequests: deps.pullRequests,
    settings: config.work,
    leaseMs: LEASE_MS,
  };
}

/** Creates what agents work in: workspaces, and gateways as their only way out. */
function attemptDeps(
  { config, knownSecrets, logger }: Bootstrap,
  deps: AppDeps,
  { chosen, clones, quota }: AttemptTools,
) {
  const { backgroundMs, dataDir, gitUrl, setupMinutes } = config;
  const { sandbox } = chosen;
  const log = plainLog(logger);
  const variablesOf = (gateway: GatewayAccess) => gatewayVariables(gateway, gitUrl);
  const commandMs = setupMinutes * MINUTE_MS;
  const gateways = gatewaysOf(config, deps, sandbox, { redact: knownSecrets.redact, log });
  const runner: AcpRunnerOptions & AppDeps["agents"] = {
    ...deps.agents,
    sandbox,
    variablesOf,
    log: logger,
    ...defaultModelOf(config.agent),
    ...compatibleServerOf(config),
    servers: config.models,
    backgroundMs,
    requireSandboxFor: (agent) => chosen.requireFor(agent),
  };
  // Containers start in the image of their run. A quota belongs to the folder of one run.
  const canWait = sandbox.hasMounts && sandbox.hasLoopback && !sandbox.hasImages && quota === undefined;
  const warm = config.agent.isWarm && canWait ? composeWarm(runner, { dataDir, gateways, log }) : undefined;
  return {
    gateways,
    warm,
    agents: createAcpRunner({ ...runner, warm }),
    workspaces: createWorkspaceProvider({
      dataDir,
      quota,
      sandbox,
      variablesOf,
      log,
      blobs: deps.blobs,
      repositories: clones,
      setup: { commandMs, totalMs: commandMs * SETUP_COMMANDS_TOTAL },
    }),
    changes: createChangeTracker({
      dataDir,
      sandbox,
      gitUrl,
      variablesOf,
      findCommit: clones.find.bind(clones),
    }),
  };
}

function composeWarm(
  runner: AcpRunnerOptions & AppDeps["agents"],
  { log, ...places }: { readonly dataDir: string; readonly gateways: ReservableGateways; readonly log: Log },
): WarmAgents {
  const { defaultName: agent, programs } = runner;
  return new WarmAgents({
    start: warmStarter({ runner, programs, agent, removeTree, ...places }),
    isMemoryShort: () => isMemoryShort(),
    clock: systemClock,
    log,
  });
}

function gatewaysOf(
  { agentAllow, dataDir, gitUrl, modelPrices, models }: Bootstrap["config"],
  { authorize }: AppDeps,
  { hasLoopback: isolated }: Sandbox,
  logging: Pick<Parameters<typeof createGateways>[0], "redact" | "log">,
): ReservableGateways {
  const destinations = new Destinations(agentAllow);
  return createGateways({
    authorize,
    dataDir,
    destinations,
    gitUrl,
    isolated,
    modelPrices,
    models,
    ...logging,
  });
}

function composeScheduler({ logger, publicUrl }: Bootstrap, { runs, storage }: AppDeps): Scheduler {
  const linkOf = (id: string) => `${publicUrl()}/api/v1/agent/schedules/${id}`;
  return new Scheduler({ storage, runs, nextDue, linkOf, log: plainLog(logger) });
}

function composeWebhooks({ knownSecrets: { redact }, logger }: Bootstrap, deps: AppDeps): WebhookWorkerDeps {
  const { pubsub, secrets: box, storage, webhookClient: client, writer } = deps;
  const [clock, log] = [systemClock, plainLog(logger)];
  const sessionLink: NoticeWriter["sessionLink"] = (run) => writer.sessionLink(run);
  return {
    fanOut: new WebhookFanOut({ storage, log, redact, sessionLink }),
    sender: new WebhookSender({ storage, client, box, clock, log }),
    history: storage.webhooks.history,
    clock,
    pubsub,
    log,
  };
}

function lostEventsOf({ adapters }: AppDeps): ReadonlyMap<string, LostEvents> {
  const all = [...adapters].flatMap(([name, { lostEvents }]) =>
    lostEvents === undefined ? [] : [[name, lostEvents] as const],
  );
  return new Map(all);
}

function existsIn({ runs }: Pick<AppDeps["storage"], "runs">): (id: RunId) => Promise<boolean> {
  return async (id) => (await runs.find({ id })) !== undefined;
}
