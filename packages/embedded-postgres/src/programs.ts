import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

export interface StartOptions {
  readonly cwd?: string;
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Other account. Default: that of this process. */
  readonly uid?: number;
  readonly gid?: number;
  /** A process group of its own. */
  readonly detached?: boolean;
}

/** Starts a program with pipes as its standard streams. */
export type StartProgram = (
  program: string,
  args: readonly string[],
  options: StartOptions,
) => ChildProcessWithoutNullStreams;

/** A program that was killed or ended with an exit code other than 0. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  /** Null: it was killed. */
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(program: string, exitCode: number | null, stderr: string) {
    const outcome = exitCode === null ? "was killed" : `ended with exit code ${exitCode}`;
    super(`${program} ${outcome}${stderr === "" ? "" : `: ${stderr.trim()}`}`);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** Without a free descriptor, Node returns a child without pipes and reports the error later, when no code listens. */
export const spawnProgram: StartProgram = (program, args, options) =>
  spawn(program, [...args], options).once("error", () => undefined);

/**
 * Resolves with the output of a program without input. Rejects with a `ProgramError`, or with the error of the system
 * when the program cannot be started.
 */
export async function outputOf(program: string, child: ChildProcessWithoutNullStreams): Promise<string> {
  const { promise: ended, reject, resolve } = Promise.withResolvers<number | null>();
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  child.once("error", reject);
  child.once("close", resolve);
  child.stdin.on("error", () => undefined).end();
  const exitCode = await ended;
  if (exitCode !== 0) {
    throw new ProgramError(program, exitCode, output.stderr);
  }
  return output.stdout;
}
