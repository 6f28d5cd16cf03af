import { type ClientConnection, client, RequestError } from "@agentclientprotocol/sdk/unstable";
import { AppError } from "../../core/errors.ts";
import type { AgentObserver, AgentRunner, AgentSession, AgentStart } from "../../core/ports/agent-runner.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { AgentProgram } from "../catalogue.ts";
import { AcpSession } from "./acp-session.ts";
import { toAppError } from "./agent-error.ts";
import { AgentProcess, atMost } from "./agent-process.ts";
import { type MessageTap, openMessageStream } from "./message-stream.ts";
import { type OpenedSession, openSession } from "./open-session.ts";
import { PermissionDesk } from "./permission-desk.ts";
import { TerminalOutput } from "./terminal-output.ts";
import { mapUpdate } from "./update-mapping.ts";

/** The slowest agent measured takes 3 s on a cold disk; a busy machine is given a lot more. */
const START_TIMEOUT_MS = 60_000;

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What the driver needs of a log; pino's logger is one. */
export interface AgentLog {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

type Programs = ReadonlyMap<string, AgentProgram>;

export interface AcpRunnerOptions {
  readonly catalogue: Programs;
  readonly sandbox: Sandbox;
  readonly log: AgentLog;
  readonly startTimeoutMs?: number;
}

/** Drives every agent of the catalogue over the Agent Client Protocol, version 1. */
export function createAcpRunner(options: AcpRunnerOptions): AgentRunner {
  return { start: (request, observer) => startSession(options, request, observer) };
}

async function startSession(
  options: AcpRunnerOptions,
  request: AgentStart,
  observer: AgentObserver,
): Promise<AgentSession> {
  const agent = findAgent(options.catalogue, request.agent);
  try {
    return await new SessionStart(options, agent, request, observer).run();
  } catch (error) {
    if (request.previousSession === undefined || request.signal.aborted || !isProcessFailure(error)) {
      throw error;
    }
    // An agent that dies over its old session would otherwise fail the run at each follow-up.
    options.log.warn({ runId: request.runId, err: error }, "agent.load_failed");
    const { previousSession: _, ...fresh } = request;
    return await new SessionStart(options, agent, fresh, observer).run();
  }
}

function findAgent(catalogue: Programs, name: string): AgentProgram {
  const agent = catalogue.get(name);
  if (agent === undefined) {
    const remedy = `Use one of: ${[...catalogue.keys()].join(", ")}.`;
    throw new AppError("resource_not_found", `There is no agent called ${name}.`, { remedy });
  }
  return agent;
}

function isProcessFailure(error: unknown): boolean {
  return error instanceof AppError && error.code === "agent_process_failed";
}

/** One try at starting an agent; on failure nothing of it is left. */
class SessionStart {
  readonly #options: AcpRunnerOptions;
  readonly #request: AgentStart;
  readonly #observer: AgentObserver;
  readonly #process: AgentProcess;
  readonly #permissions: PermissionDesk;
  #replaying = false;

  constructor(options: AcpRunnerOptions, agent: AgentProgram, request: AgentStart, observer: AgentObserver) {
    this.#options = options;
    this.#request = request;
    this.#observer = observer;
    this.#permissions = new PermissionDesk(request.permissionPolicy, observer);
    this.#process = new AgentProcess(options.sandbox.spawn(toCommand(agent, request)));
  }

  async run(): Promise<AgentSession> {
    const connection = this.#connect();
    const giveUp = () => connection.close();
    this.#request.signal.addEventListener("abort", giveUp, { once: true });
    try {
      this.#request.signal.throwIfAborted();
      const opened = await this.#open(connection);
      this.#request.signal.removeEventListener("abort", giveUp);
      this.#tellRefusedModel(opened);
      return new AcpSession({ opened, connection, process: this.#process, permissions: this.#permissions });
    } catch (error) {
      const failure = await this.#toFailure(error);
      await this.#process.close();
      connection.close();
      throw failure;
    }
  }

  #connect(): ClientConnection {
    const { stdin, stdout } = this.#process.process;
    const connection = client({ name: "errand" })
      .onRequest("session/request_permission", ({ params }) => this.#permissions.answer(params))
      .connect(openMessageStream(stdin, stdout, this.#tap()));
    // A child of the agent may hold its output open after it died.
    void this.#process.ended().then(() => connection.close());
    return connection;
  }

  #tap(): MessageTap {
    const terminals = new TerminalOutput();
    return {
      update: (update) => {
        const mapped = this.#replaying ? undefined : mapUpdate(update);
        if (mapped !== undefined) {
          this.#observer.update(terminals.joined(mapped));
        }
      },
      answered: () => {
        // While a session is loaded, that is the one request of ours without an answer.
        this.#replaying = false;
      },
      noise: (line) => this.#options.log.debug({ runId: this.#request.runId, line }, "agent.stdout_noise"),
    };
  }

  async #open(connection: ClientConnection): Promise<OpenedSession> {
    const replay = {
      begin: () => {
        this.#replaying = true;
      },
    };
    const timeoutMs = this.#options.startTimeoutMs ?? START_TIMEOUT_MS;
    const opened = await atMost(timeoutMs, openSession(connection.agent, this.#request, replay));
    if (opened === undefined) {
      const seconds = Math.round(timeoutMs / 1_000);
      throw new AppError("agent_process_failed", `The agent was not ready after ${seconds} s.`);
    }
    return opened;
  }

  async #toFailure(error: unknown): Promise<AppError> {
    if (error instanceof AppError) {
      return error;
    }
    return error instanceof RequestError ? toAppError(error) : await this.#process.failure(error);
  }

  #tellRefusedModel({ refusedModel, agent }: OpenedSession): void {
    if (refusedModel !== undefined) {
      const text = `${agent.name} does not offer the model ${refusedModel} and works with its own choice.`;
      this.#observer.update({ kind: "agent.notice", severity: "warning", text });
    }
  }
}

/** A run's own variables come first: none of them takes the place of one of ours. */
function toCommand(agent: AgentProgram, { variables, workspace }: AgentStart) {
  return {
    argv: agent.argv,
    env: {
      ...variables,
      PATH: SYSTEM_PATH,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...agent.env,
      HOME: workspace.home,
    },
    cwd: workspace.directory,
    writable: [workspace.directory, workspace.home],
    readable: agent.readable,
  };
}
