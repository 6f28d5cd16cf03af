import { AppError } from "../../core/errors.ts";
import { withTimeout } from "../../core/with-timeout.ts";
import type { SandboxExit, SandboxProcess } from "../../sandboxes/sandbox.ts";
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
  #stderrTail = "";
  #closed: Promise<void> | undefined;

  constructor(process: SandboxProcess) {
    this.process = process;
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

  /** Explains why nobody answers any more, and ends what is left of the process. */
  async failure(cause: unknown): Promise<AppError> {
    const exit = await withTimeout(this.process.exited, EXIT_MS);
    if (exit?.isImageProblem === true) {
      await this.close();
      return imageFailure(exit, cause);
    }
    const reason = exit === undefined ? reasonOf(cause) : describeExit(exit);
    await this.close();
    const tail = this.#stderrTail.trim();
    const message = tail === "" ? reason : `${reason} Its last words: ${tail}`;
    return new AppError("internal_error", bounded(message), { cause, reason: "agent_process_failed" });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
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

function describeExit({ code, signal, reason }: SandboxExit): string {
  if (reason !== undefined) {
    return code === 127 ? `The agent could not be started: ${reason}` : `The agent was ended. ${reason}`;
  }
  return signal === null
    ? `The agent's process ended with exit code ${code ?? "unknown"}.`
    : `The agent's process was ended by ${signal}.`;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "The agent stopped speaking.";
}
