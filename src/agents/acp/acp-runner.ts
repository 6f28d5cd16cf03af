import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { withTimeout } from "../../core/basics/clock.ts";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { AgentPhases } from "../../core/model/runs/events.ts";
import { PICTURE_BYTES_MAX } from "../../core/model/workspaces/picture.ts";
import { pathsInside } from "../../core/model/workspaces/workspace.ts";
import type { AgentObserver, AgentRunner, AgentSession, AgentStart } from "../../core/ports/agent-runner.ts";
import type { Gateway } from "../../core/ports/gateway.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { AgentDefinition, AgentLaunch, AgentPrograms } from "../agent-definition.ts";
import { defaultModelFor, modelFor } from "../agent-models.ts";
import { type CompatibleServer, chooseModel, listModels } from "../compatible-models.ts";
import type { ModelServers, PlacedModel } from "../models.ts";
import { AcpSession } from "./acp-session.ts";
import { AgentConnection, type AgentListener } from "./agent-connection.ts";
import { toAppError } from "./agent-error.ts";
import { AgentProcess, agentCommand } from "./agent-process.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { writeHomeFiles } from "./home-files.ts";
import { requireMcpServers } from "./mcp-check.ts";
import { type OpenedSession, openSession } from "./open-session.ts";
import { PermissionAnswers } from "./permission-answers.ts";
import { type FoundPictures, PictureFinder } from "./pictures.ts";
import { unpackAgent } from "./unpack-agent.ts";
import { boundedUpdate, mapUpdate } from "./update-mapping.ts";

/** Longer than any agent needs to start on a loaded machine. */
const START_TIMEOUT_MS = 120_000;
/** Enough for `npx` to fetch a server. The agent then finds it in the cache of its home. */
const MCP_TIMEOUT_MS = 60_000;

/** What the driver needs of a log. pino's logger fits. */
export interface AgentLog {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface AcpRunnerOptions {
  readonly catalogue: ReadonlyMap<string, AgentDefinition>;
  readonly programs: Pick<AgentPrograms, "provide">;
  readonly sandbox: Sandbox;
  /** Fails for an agent that may not run in this sandbox. */
  readonly requireSandboxFor: (agent: AgentDefinition) => void;
  readonly servers: ModelServers;
  /** The model for runs that name none, if the agent can use it. */
  readonly defaultModel?: string;
  /** The server of another company that is asked for its models if there is no default one. */
  readonly compatibleServer?: CompatibleServer;
  /** Environment variables of all processes of an attempt. */
  readonly variablesOf: (gateway: Gateway) => Readonly<Record<string, string>>;
  readonly log: AgentLog;
  readonly startTimeoutMs?: number;
  /** How long an MCP server may take until it is initialized. */
  readonly mcpTimeoutMs?: number;
  /** How long the end of a turn waits for what the agent left running. */
  readonly backgroundMs: number;
}

/** Drives every agent of the catalogue over version 1 of the Agent Client Protocol. */
export function createAcpRunner(options: AcpRunnerOptions): AgentRunner {
  return {
    start: (request, observer) => startSession(options, request, observer),
    skillFolder: (agent) => options.catalogue.get(agent)?.skillFolder,
  };
}

async function startSession(
  options: AcpRunnerOptions,
  given: AgentStart,
  observer: AgentObserver,
): Promise<AgentSession> {
  const begunMs = performance.now();
  const agent = findAgent(options.catalogue, given.agent);
  options.requireSandboxFor(agent);
  const request = agent.isDemo ? given : withStandingInstructions(given);
  const prepared = { agent, launch: await prepareLaunch(options, agent, request, observer) };
  await checkMcpServers(options, prepared, request);
  try {
    return await new SessionStart(options, prepared, request, observer).run(begunMs);
  } catch (error) {
    if (request.previousSession === undefined || request.signal.aborted || !isAgentFailure(error)) {
      throw error;
    }
    // Otherwise an agent that dies while it loads its old session would fail the run at each follow-up.
    options.log.warn({ runId: request.runId, error }, "agent.load_failed");
    const { previousSession: _, ...fresh } = request;
    return await new SessionStart(options, prepared, fresh, observer).run(begunMs);
  }
}

const STANDING_INSTRUCTIONS =
  "When you end your turn, all your processes are ended: commands in the background, timers and subagents do not " +
  "survive it, and nobody reads what you say later. Wait for everything that you start before you end your turn.";

function withStandingInstructions(start: AgentStart): AgentStart {
  const basePrompt = [start.basePrompt, STANDING_INSTRUCTIONS].filter(Boolean).join("\n\n");
  return { ...start, basePrompt };
}

function findAgent(catalogue: AcpRunnerOptions["catalogue"], name: string): AgentDefinition {
  const agent = catalogue.get(name);
  if (agent === undefined) {
    const remedy = `Use one of: ${[...catalogue.keys()].join(", ")}.`;
    throw new AppError("resource_not_found", `There is no agent called ${name}.`, { remedy });
  }
  return agent;
}

/** Installs the agent if needed, and prepares the files that it needs at the start. */
async function prepareLaunch(
  options: AcpRunnerOptions,
  agent: AgentDefinition,
  request: AgentStart,
  observer: AgentObserver,
): Promise<AgentLaunch> {
  const model = await modelOf(options, agent, request.modelId);
  const report = (text: string) => observer.update({ kind: "agent.notice", severity: "info", text });
  const directory =
    agent.npmPackage === undefined ? "" : await options.programs.provide(agent, report, request.signal);
  const unpacking = agent.unpacking?.(directory);
  if (unpacking !== undefined && !(await unpackAgent(options.sandbox, unpacking, directory))) {
    options.log.warn({ agent: agent.name }, "agent.unpack_failed");
  }
  const { basePrompt, gateway, permissionPolicy, workspace } = request;
  const launch = agent.launch(
    defined({
      directory,
      address: gateway.address,
      servers: options.servers,
      home: pathsInside(workspace).home,
      permissionPolicy,
      model,
      basePrompt,
    }),
  );
  if (launch.files !== undefined) {
    await writeHomeFiles(workspace.home, launch.files);
  }
  return launch;
}

/** An agent that accepts no MCP servers reports that itself. */
async function checkMcpServers(
  { mcpTimeoutMs: timeoutMs = MCP_TIMEOUT_MS, sandbox, variablesOf }: AcpRunnerOptions,
  prepared: Prepared,
  start: AgentStart,
): Promise<void> {
  if (prepared.agent.acceptsMcpServers && Object.keys(start.mcpServers).length > 0) {
    const command = agentCommand(prepared, start, variablesOf(start.gateway));
    await requireMcpServers({ sandbox, agentCommand: command, start, timeoutMs });
  }
}

/** The key may have been removed since the run was created. */
async function modelOf(
  { compatibleServer, defaultModel, servers }: AcpRunnerOptions,
  agent: AgentDefinition,
  requestedModel: string | undefined,
): Promise<PlacedModel | undefined> {
  if (requestedModel === undefined) {
    const usual = defaultModelFor(agent, servers, defaultModel);
    const isAsked =
      compatibleServer !== undefined && usual?.provider === "openai" && defaultModel === undefined;
    return isAsked ? chooseModel(await listModels(compatibleServer), usual) : usual;
  }
  const model = modelFor(agent, requestedModel, servers);
  if (typeof model !== "string") {
    return model;
  }
  throw new AppError("integration_not_configured", model);
}

function isAgentFailure(error: unknown): boolean {
  return error instanceof AppError && error.options.reason !== undefined;
}

interface Prepared {
  readonly agent: AgentDefinition;
  readonly launch: AgentLaunch;
}

/** The agent starts in other images, so the run ends as a failure of its environment. */
function notStartedIn(image: string, { message, options }: AppError): AppError {
  return new AppError(
    "environment_setup_failed",
    `The agent did not start in the image ${image}. ${message}`,
    {
      ...options,
      remedy:
        "Correct the image of the environment, or start a run without it to see whether the agent works.",
    },
  );
}

interface TimedSession {
  readonly opened: OpenedSession;
  readonly phases: AgentPhases;
}

/** One try to start an agent. If it fails, nothing of it remains. */
class SessionStart {
  readonly #options: AcpRunnerOptions;
  readonly #prepared: Prepared;
  readonly #request: AgentStart;
  readonly #observer: AgentObserver;
  readonly #pictures = new PictureFinder();
  readonly #agent: AgentConnection;
  readonly #permissions: PermissionAnswers;
  readonly #tasks: BackgroundTasks;
  #replaying = false;
  #updatedAt = 0;
  #isNoisy = false;

  constructor(options: AcpRunnerOptions, prepared: Prepared, request: AgentStart, observer: AgentObserver) {
    this.#options = options;
    this.#prepared = prepared;
    this.#request = request;
    this.#observer = observer;
    this.#permissions = new PermissionAnswers(request.permissionPolicy, observer);
    const agentProcess = new AgentProcess(
      options.sandbox.spawn(agentCommand(prepared, request, options.variablesOf(request.gateway))),
      (stderr) => options.log.warn({ runId: request.runId, stderr }, "agent.died"),
    );
    this.#agent = new AgentConnection(agentProcess, this.#listener());
    this.#tasks = new BackgroundTasks({
      process: agentProcess.process,
      mcpServers: Object.values(request.mcpServers).filter((server) => server !== "remote"),
      limitMs: options.backgroundMs,
      updatedAt: () => this.#updatedAt,
    });
  }

  async run(begunMs: number): Promise<AgentSession> {
    const giveUp = () => this.#agent.client.close();
    this.#request.signal.addEventListener("abort", giveUp, { once: true });
    try {
      this.#request.signal.throwIfAborted();
      const { opened, phases } = await this.#openInTime(begunMs);
      this.#request.signal.removeEventListener("abort", giveUp);
      this.#recordMissingParts(opened);
      return new AcpSession({
        opened,
        phases,
        connection: this.#agent.client,
        process: this.#agent.process,
        permissions: this.#permissions,
        tasks: this.#tasks,
        gateway: this.#request.gateway,
        countsUsage: this.#prepared.agent.countsUsage,
      });
    } catch (error) {
      const failure = await this.#toFailure(error);
      await this.#agent.close();
      throw failure;
    }
  }

  #listener(): AgentListener {
    return {
      permission: (request) => this.#permissions.answer(request),
      backpressure: () => this.#observer.backpressure(),
      update: (update) => {
        const mapped = this.#replaying ? undefined : mapUpdate(update);
        if (mapped !== undefined) {
          const bounded = boundedUpdate(mapped);
          this.#updatedAt = performance.now();
          if (bounded.kind === "agent.tool_call") {
            this.#permissions.onToolCall(bounded);
            this.#tasks.onToolCall(bounded);
          }
          this.#observer.update(bounded);
          this.#reportPictures(this.#pictures.find(update));
        }
      },
      answered: () => {
        // While a session is being loaded, no other request of ours is unanswered.
        this.#replaying = false;
      },
      noise: (line) => this.#logNoise(line),
    };
  }

  #reportPictures({ pictures, tooLarge }: FoundPictures): void {
    for (const picture of pictures) {
      this.#observer.picture(picture);
    }
    for (const title of tooLarge) {
      const text = `A picture of ${title} is not kept, because it has more than ${PICTURE_BYTES_MAX / 2 ** 20} MiB.`;
      this.#observer.update({ kind: "agent.notice", severity: "warning", text });
    }
  }

  /** The first line is enough to see what an agent prints, and an agent may print as many as it likes. */
  #logNoise(line: string): void {
    const facts = { runId: this.#request.runId, agent: this.#request.agent, line };
    if (this.#isNoisy) {
      this.#options.log.debug(facts, "agent.stdout_noise");
    } else {
      this.#isNoisy = true;
      this.#options.log.warn(facts, "agent.stdout_noise");
    }
  }

  async #openInTime(begunMs: number): Promise<TimedSession> {
    const timeoutMs = this.#options.startTimeoutMs ?? START_TIMEOUT_MS;
    const opened = await withTimeout(this.#open(begunMs), timeoutMs);
    if (opened === undefined) {
      const seconds = Math.round(timeoutMs / 1_000);
      const message = `The agent was not ready after ${seconds} s.`;
      throw new AppError("internal_error", message, { reason: "agent_process_failed" });
    }
    return opened;
  }

  async #open(begunMs: number): Promise<TimedSession> {
    const replay = {
      begin: () => {
        this.#replaying = true;
      },
    };
    const { agent, launch } = this.#prepared;
    const terms = { ...launch, acceptsMcpServers: agent.acceptsMcpServers };
    const spawnedMs = performance.now();
    const initialized = await this.#agent.initialize(launch.authenticate);
    const initializedMs = performance.now();
    const opened = await openSession(this.#agent.client.agent, initialized, {
      start: this.#request,
      terms,
      replay,
    });
    const phases = {
      processMs: Math.round(spawnedMs - begunMs),
      initializeMs: Math.round(initializedMs - spawnedMs),
      sessionMs: Math.round(performance.now() - initializedMs),
    };
    return { opened, phases };
  }

  async #toFailure(error: unknown): Promise<AppError> {
    const failure = await this.#failureOf(error);
    const { image } = this.#request;
    return image !== undefined && failure.options.reason === "agent_process_failed"
      ? notStartedIn(image, failure)
      : failure;
  }

  async #failureOf(error: unknown): Promise<AppError> {
    if (error instanceof AppError) {
      return error;
    }
    return error instanceof RequestError ? toAppError(error) : await this.#agent.process.failure(error);
  }

  #recordMissingParts({ shortcomings }: OpenedSession): void {
    for (const text of shortcomings) {
      this.#observer.update({ kind: "agent.notice", severity: "warning", text });
    }
  }
}
