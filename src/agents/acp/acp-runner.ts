import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { withTimeout } from "../../core/basics/clock.ts";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { AgentPhases } from "../../core/model/runs/events.ts";
import { PICTURE_BYTES_MAX } from "../../core/model/workspaces/picture.ts";
import type { AgentObserver, AgentRunner, AgentSession, AgentStart } from "../../core/ports/agent-runner.ts";
import type { AgentDefinition, AgentLaunch } from "../agent-definition.ts";
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
import { basePromptFor, findAgent, prepareLaunch } from "./prepare-launch.ts";
import type { AcpRunnerOptions } from "./runner-options.ts";
import { boundedUpdate, mapUpdate } from "./update-mapping.ts";
import { takeWarm, type WarmRequest } from "./warm/take-warm.ts";

/** Longer than any agent needs to start on a loaded machine. */
const START_TIMEOUT_MS = 120_000;
/** Enough for `npx` to fetch a server. The agent then finds it in the cache of its home. */
const MCP_TIMEOUT_MS = 60_000;

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
  const request = defined({ ...given, basePrompt: basePromptFor(agent, given.basePrompt) });
  const report = (text: string) => observer.update({ kind: "agent.notice", severity: "info", text });
  const launchAt = await prepareLaunch(options, agent, request, report);
  const begin: Begin = (prepared, each, connection) =>
    new SessionStart(options, prepared, each, observer, connection).run(begunMs);
  try {
    const start = { agent, launchAt, request };
    return (await startWarm(options, start, begin)) ?? (await startCold(options, start, begin));
  } finally {
    void options.warm?.fill();
  }
}

type Begin = (prepared: Prepared, request: AgentStart, connection: AgentConnection) => Promise<AgentSession>;

/** Undefined: none waits for this run, or it was broken. The run has its files in both cases. */
async function startWarm(
  options: AcpRunnerOptions,
  start: WarmRequest,
  begin: Begin,
): Promise<AgentSession | undefined> {
  const { agent, request } = start;
  const warm = await takeWarm(options, start);
  if (warm === undefined) {
    return undefined;
  }
  try {
    return await begin({ agent, launch: warm.launch, isWarm: true }, request, warm.connection);
  } catch (error) {
    if (request.signal.aborted || !isAgentFailure(error)) {
      throw error;
    }
    options.log.warn({ runId: request.runId, error }, "agent.warm.failed");
    return undefined;
  }
}

async function startCold(
  options: AcpRunnerOptions,
  { agent, launchAt, request }: WarmRequest,
  begin: Begin,
): Promise<AgentSession> {
  const prepared = { agent, launch: launchAt(request.gateway.address) };
  await writeHomeFiles(request.workspace.home, prepared.launch.files ?? {});
  await checkMcpServers(options, prepared, request);
  try {
    return await begin(prepared, request, spawnAgent(options, prepared, request));
  } catch (error) {
    if (request.previousSession === undefined || request.signal.aborted || !isAgentFailure(error)) {
      throw error;
    }
    // Otherwise an agent that dies while it loads its old session would fail the run at each follow-up.
    options.log.warn({ runId: request.runId, error }, "agent.load_failed");
    const { previousSession: _, ...fresh } = request;
    return await begin(prepared, fresh, spawnAgent(options, prepared, fresh));
  }
}

function spawnAgent(options: AcpRunnerOptions, prepared: Prepared, request: AgentStart): AgentConnection {
  const command = agentCommand(prepared, request, options.variablesOf(request.gateway));
  const died = (stderr: string) => options.log.warn({ runId: request.runId, stderr }, "agent.died");
  return new AgentConnection(new AgentProcess(options.sandbox.spawn(command), died));
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

function isAgentFailure(error: unknown): boolean {
  return error instanceof AppError && error.options.reason !== undefined;
}

interface Prepared {
  readonly agent: AgentDefinition;
  readonly launch: AgentLaunch;
  /** It was initialized before there was a run. */
  readonly isWarm?: boolean;
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

  constructor(
    options: AcpRunnerOptions,
    prepared: Prepared,
    request: AgentStart,
    observer: AgentObserver,
    agent: AgentConnection,
  ) {
    this.#options = options;
    this.#prepared = prepared;
    this.#request = request;
    this.#observer = observer;
    this.#permissions = new PermissionAnswers(request.permissionPolicy, observer);
    this.#agent = agent;
    agent.listen(this.#listener());
    this.#tasks = new BackgroundTasks({
      process: agent.process.process,
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
        isWarm: this.#prepared.isWarm === true,
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
