import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { ProgramError, runProgram } from "../../child-process/run-program.ts";
import { startProgram } from "../../child-process/start-program.ts";

/** The docker program or a compatible one, and the part of our environment that it gets. */
export interface DockerProgram {
  readonly program: string;
  /**
   * DOCKER_HOST and similar variables, PATH and HOME. Nothing of an agent, because the program runs outside of every
   * sandbox.
   */
  readonly environment: Readonly<Record<string, string>>;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 8 * 1024 ** 2;
const ERROR_CHARS = 500;

const MISSING = /no such (container|image|object)|no container with name|image not known/i;
const UNREACHABLE =
  /ENOENT|cannot connect|error during connect|connection refused|is the docker daemon running|unexpected EOF/i;

/** The error of a failed docker call. */
export class DockerError extends Error {
  override readonly name: string = "DockerError";
  /** The container or image does not exist. */
  readonly isMissing: boolean;
  /** There is no program, or no daemon answers it. */
  readonly isUnreachable: boolean;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.isMissing = MISSING.test(message);
    this.isUnreachable = UNREACHABLE.test(message);
  }
}

/** The image is missing, or programs of this machine do not run in it. */
export class ImageError extends DockerError {
  override readonly name = "ImageError";
}

export class DockerCli {
  readonly #docker: DockerProgram;

  constructor(docker: DockerProgram) {
    this.#docker = docker;
  }

  /** Returns the output of the command. Fails with a `DockerError`. */
  async call(args: readonly string[], { signal, timeoutMs = TIMEOUT_MS }: CallOptions = {}): Promise<string> {
    const { environment: env, program } = this.#docker;
    try {
      const options = { env, signal, timeoutMs, maxOutput: MAX_OUTPUT_BYTES };
      return (await runProgram(program, args, options)).stdout.trim();
    } catch (error) {
      throw new DockerError(tellFailure(error, timeoutMs), error);
    }
  }

  /** A command whose streams are used while it runs. */
  spawn(args: readonly string[]): ChildProcessWithoutNullStreams {
    const { environment: env, program } = this.#docker;
    return startProgram(program, args, { env });
  }
}

function tellFailure(error: unknown, timeoutMs: number): string {
  if (error instanceof ProgramError && error.end.isTimeout) {
    return `docker did not answer within ${timeoutMs / 1_000} s`;
  }
  const stderr = error instanceof ProgramError ? error.end.stderr : "";
  return reasonIn(stderr) || String(error instanceof Error ? error.message : error).slice(0, ERROR_CHARS);
}

/** Removes the boilerplate around the reason. */
export function reasonIn(errorText: string): string {
  return errorText
    .replace(/^(docker: )?(Error response from daemon: |Error: )/gm, "")
    .replace(/^See '.*--help'\.$/gm, "")
    .trim()
    .slice(0, ERROR_CHARS);
}
