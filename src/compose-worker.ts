import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { createAcpRunner } from "./agents/acp/acp-runner.ts";
import { type Grounds, hostOf, openersOf, type Parts } from "./compose.ts";
import { defaultModelOf } from "./compose-agents.ts";
import { composeSandbox } from "./compose-sandbox.ts";
import { RunWorker, type RunWorkerParts } from "./core/attempts/run-worker.ts";
import { Janitor } from "./core/janitor.ts";
import type { Gateway, Gateways } from "./core/ports/gateway.ts";
import { Scheduler } from "./core/schedules/scheduler.ts";
import type { NoticeWriter } from "./core/threads/notice-writer.ts";
import { WebhookFanOut } from "./core/webhooks/webhook-fan-out.ts";
import { WebhookSender } from "./core/webhooks/webhook-sender.ts";
import type { WebhookWorkerParts } from "./core/webhooks/webhook-worker.ts";
import { Heartbeat } from "./core/workers/heartbeat.ts";
import { createGateways } from "./gateway/create-gateways.ts";
import { gatewayVariables } from "./gateway/gateway-variables.ts";
import { RepositoryClones } from "./git/repository-clones.ts";
import { createTeamPullRequests } from "./git/team-pull-requests.ts";
import { plainLog } from "./log.ts";
import { nextDue } from "./next-due.ts";
import { Destinations } from "./outgoing/destinations.ts";
import type { ChosenSandbox } from "./sandboxes/choose-sandbox.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";
import { systemClock } from "./system-clock.ts";
import { createChangeKeeper } from "./workspace/changes/change-keeper.ts";
import { createWorkspaceKeeper } from "./workspace/workspace-keeper.ts";

export interface WorkerParts {
  readonly chosen: ChosenSandbox;
  readonly clones: RepositoryClones;
  readonly runWorker: RunWorker;
  readonly janitor: Janitor;
  readonly scheduler: Scheduler;
  readonly heartbeat: Heartbeat;
  readonly webhooks: WebhookWorkerParts;
}

/** A worker that is gone for this long has lost its runs. */
const LEASE_MS = 10_000;
const MINUTE_MS = 60_000;
/** All setup commands of an environment may take so many times what one of them may. */
const SETUP_COMMANDS_TOTAL = 3;

/** What only a worker has. Fails with an AppError when there is no sandbox for the agent that runs have by default. */
export async function composeWorker(grounds: Grounds, parts: Parts): Promise<WorkerParts> {
  const { config, logger } = grounds;
  const { files, queue, storage } = parts;
  const log = plainLog(logger);
  const chosen = await composeSandbox(config);
  const usual = parts.agents.catalogue.get(parts.agents.defaultName);
  if (usual !== undefined) chosen.requireFor(usual);
  const host = hostOf(config);
  // Nobody else's, also not that of a process with this number on a machine that is called the same.
  const worker = `${hostname()}:${process.pid}:${randomBytes(3).toString("hex")}`;
  const { dataDir, gitUrl: baseUrl } = config;
  const clones = new RepositoryClones({ dataDir, baseUrl, authorize: parts.authorize, log });
  const runWorker = new RunWorker({ ...host, ...runParts(grounds, parts, { chosen, clones }), worker });
  const heartbeat = new Heartbeat({
    ...{ workers: storage.workers, clock: systemClock, log },
    worker: { id: worker, ...host, slots: config.concurrency, sandbox: chosen.sandbox },
  });
  return {
    ...{ chosen, clones, runWorker, heartbeat },
    janitor: new Janitor({ ...host, storage, blobs: files, queue, runWorker, clock: systemClock, log }),
    scheduler: composeScheduler(grounds, parts),
    webhooks: composeWebhooks(grounds, parts),
  };
}

interface Place {
  readonly chosen: ChosenSandbox;
  readonly clones: RepositoryClones;
}

function runParts(grounds: Grounds, parts: Parts, place: Place): Omit<RunWorkerParts, "worker" | "host"> {
  const { config, knownSecrets, logger } = grounds;
  const { files, news, storage, writer } = parts;
  return {
    ...{ storage, news, writer, ...workplace(grounds, parts, place) },
    log: plainLog(logger),
    clock: systemClock,
    redactors: knownSecrets,
    secretBox: parts.secrets,
    blobs: files,
    skills: parts.skillLibrary,
    pullRequests: createTeamPullRequests(
      openersOf(parts.adapters, "openPullRequests"),
      storage.installations,
    ),
    settings: config.work,
    leaseMs: LEASE_MS,
  };
}

/** Where agents work, and their one way out of it. */
function workplace({ config, knownSecrets, logger }: Grounds, parts: Parts, { chosen, clones }: Place) {
  const { dataDir, gitUrl, setupMinutes } = config;
  const { sandbox } = chosen;
  const log = plainLog(logger);
  const variablesOf = (gateway: Gateway) => gatewayVariables(gateway, gitUrl);
  const commandMs = setupMinutes * MINUTE_MS;
  return {
    gateways: gatewaysOf(config, parts, sandbox, { redact: knownSecrets.redact, log }),
    agents: createAcpRunner({
      ...{ ...parts.agents, sandbox, variablesOf, log: logger, ...defaultModelOf(config.agent) },
      servers: config.models,
      requireSandboxFor: (agent) => chosen.requireFor(agent),
    }),
    workspaces: createWorkspaceKeeper({
      ...{ dataDir, sandbox, variablesOf, log },
      blobs: parts.files,
      repositories: clones,
      setup: { commandMs, totalMs: commandMs * SETUP_COMMANDS_TOTAL },
    }),
    changes: createChangeKeeper({ dataDir, sandbox, gitUrl, variablesOf }),
  };
}

function gatewaysOf(
  { agentAllow, dataDir, gitUrl, modelPrices, models }: Grounds["config"],
  { authorize }: Parts,
  { isolated }: Sandbox,
  telling: Pick<Parameters<typeof createGateways>[0], "redact" | "log">,
): Gateways {
  const destinations = new Destinations(agentAllow);
  return createGateways({
    ...{ authorize, dataDir, destinations, gitUrl, isolated, modelPrices, models },
    ...telling,
  });
}

function composeScheduler({ logger, publicUrl }: Grounds, { runs, storage }: Parts): Scheduler {
  const linkOf = (id: string) => `${publicUrl()}/api/v1/agent/schedules/${id}`;
  return new Scheduler({ storage, runs, nextDue, linkOf, log: plainLog(logger) });
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
