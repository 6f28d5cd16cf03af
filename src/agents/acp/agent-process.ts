import { withTimeout } from "../../core/basics/clock.ts";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { pathsInside, workspaceAccess } from "../../core/model/workspaces/workspace.ts";
import type { AgentStart } from "../../core/ports/agent-runner.ts";
import { type GatewayAccess, gatewayConnection } from "../../core/ports/gateway.ts";
import type { SandboxCommand, SandboxExit, SandboxProcess } from "../../sandboxes/sandbox.ts";
import type { AgentDefinition, AgentLaunch } from "../agent-definition.ts";
import { bounded } from "./agent-error.ts";

/** How much of the end of stderr is kept: enough for a stack trace. */
const STDERR_TAIL_CHARS = 1_200;

/**
 * After the process has ended, its last output may still be in the pipe. A child process may keep the pipe open for
 * ever.
 */
const DRAIN_MS = 500;

/** A program may close its output and continue to run. Then it is no longer an agent. */
const EXIT_MS = 1_000;

/** The agent's process, and what is known about its end. */
export class AgentProcess {
  readonly process: SandboxProcess;
  readonly #note: (stderr: string) => void;
  #stderrTail = "";
  #closed: Promise<void> | undefined;

  /** `note` receives the end of the agent's stderr when it has died. */
  constructor(process: SandboxProcess, note: (stderr: string) => void) {
    this.process = process;
    this.#note = note;
    process.stderr.setEncoding("utf8");
    process.stderr.on("data", (text: string) => {
      this.#stderrTail = (this.#stderrTail + text).slice(-STDERR_TAIL_CHARS);
    });
    // A broken pipe means that the agent ended or was stopped. Both are reported elsewhere.
    for (const stream of [process.stdin, process.stdout, process.stderr]) {
      stream.on("error", () => {});
    }
  }

  /** Resolves when the process has ended and its output has been read. */
  async ended(): Promise<void> {
    const { stdout, exited } = this.process;
    const drained = new Promise<void>((resolve) => {
      stdout.once("close", resolve);
    });
    await exited;
    if (!stdout.closed) {
      await withTimeout(drained, DRAIN_MS);
    }
  }

  /** Explains why the agent no longer answers, and ends what is left of its processes. */
  async failure(cause: unknown): Promise<AppError> {
    const exit = await withTimeout(this.process.exited, EXIT_MS);
    if (exit?.isImageProblem === true) {
      await this.close();
      return imageFailure(exit, cause);
    }
    const reason = exit === undefined ? reasonOf(cause) : describeExit(exit);
    await this.close();
    const stderr = this.#lastStderr();
    if (stderr !== "") {
      this.#note(stderr);
    }
    // The output of an agent that was killed does not say why, and may be pages of debugging.
    const lastOutput = exit === undefined || isKilled(exit) ? "" : stderr;
    const message = lastOutput === "" ? reason : `${reason} Its last output: ${lastOutput}`;
    return new AppError("internal_error", bounded(message), { cause, reason: "agent_process_failed" });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** In whole lines, because a part of a secret could not be recognized and removed. */
  #lastStderr(): string {
    const tail = this.#stderrTail;
    const isCut = tail.length === STDERR_TAIL_CHARS;
    return (isCut ? tail.slice(tail.indexOf("\n") + 1) : tail).trim();
  }

  async #close(): Promise<void> {
    this.process.stdin.end();
    await this.process.kill();
    await this.process.exited;
  }
}

function imageFailure({ reason = "", remedy }: SandboxExit, cause: unknown): AppError {
  const more = remedy === undefined ? {} : { remedy };
  return new AppError("environment_setup_failed", bounded(reason), { cause, ...more });
}

const KILLING_SIGNALS: ReadonlySet<string> = new Set(["SIGINT", "SIGKILL", "SIGTERM"]);
/** The same signals as bubblewrap, docker and shells report them: 128 plus the number. */
const KILLED_CODES: ReadonlySet<number> = new Set([130, 137, 143]);

/** Whether something outside of the agent ended it. The stderr of an agent that crashes tells why. */
function isKilled({ code, reason, signal }: SandboxExit): boolean {
  const isLimit = reason !== undefined && code !== 127;
  return isLimit || KILLING_SIGNALS.has(signal ?? "") || KILLED_CODES.has(code ?? 0);
}

function describeExit({ code, signal, reason }: SandboxExit): string {
  if (reason !== undefined) {
    return code === 127 ? `The agent could not be started: ${reason}` : `The agent was ended. ${reason}`;
  }
  return signal === null
    ? `The agent's process ended with exit code ${code ?? "unknown"}.`
    : `The agent's process was ended by ${signal}.`;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "The agent closed its output.";
}

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What the command of an agent depends on, besides its launch. */
export interface CommandNeeds extends Pick<AgentStart, "image" | "variables" | "workspace"> {
  readonly gateway: GatewayAccess;
  /** Shown to the operator. */
  readonly runId: string;
}

/**
 * The command that starts the agent in its sandbox. The run's own variables come first, so that none replaces one of
 * ours. `shared` are the variables of all processes of the attempt.
 */
export function agentCommand(
  { agent, launch }: { readonly agent: Pick<AgentDefinition, "isDemo">; readonly launch: AgentLaunch },
  start: CommandNeeds,
  shared: Readonly<Record<string, string>>,
): SandboxCommand {
  const { gateway, image, runId, variables, workspace } = start;
  const { home, workingDirectory } = pathsInside(workspace);
  return {
    argv: launch.argv,
    env: {
      ...variables,
      ...shared,
      PATH: SYSTEM_PATH,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...launch.env,
      HOME: home,
    },
    cwd: workingDirectory,
    ...workspaceAccess(workspace),
    readable: launch.readable,
    label: runId,
    isBuiltIn: agent.isDemo,
    ...gatewayConnection(gateway),
    ...defined({ image }),
  };
}
