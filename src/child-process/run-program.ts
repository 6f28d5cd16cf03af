import { type ProgramOptions, startProgram } from "./start-program.ts";

interface RunOptions extends ProgramOptions {
  readonly timeoutMs?: number;
  /** A program that writes more characters to one of its streams is killed. */
  readonly maxOutput?: number;
}

export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramEnd extends ProgramOutput {
  /** Null: it was killed. */
  readonly exitCode: number | null;
  readonly isTimeout: boolean;
  /** It wrote more than it may. */
  readonly isTooLong: boolean;
}

/** A program that was killed or ended with an exit code other than 0. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly end: ProgramEnd;

  constructor(program: string, end: ProgramEnd) {
    const outcome = end.exitCode === null ? "was killed" : `ended with exit code ${end.exitCode}`;
    super(`${program} ${outcome}${end.stderr === "" ? "" : `: ${end.stderr.trim()}`}`);
    this.end = end;
  }
}

const MAX_OUTPUT = 2 ** 20;
/** What a timer of Node can hold: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Runs a program without input to its end and returns what it wrote. Fails with a `ProgramError`, or with the error of
 * the system when it cannot be started.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { maxOutput = MAX_OUTPUT, timeoutMs, ...options }: RunOptions,
): Promise<ProgramOutput> {
  const child = startProgram(program, args, { ...options, killSignal: "SIGKILL" });
  const { promise: ended, reject, resolve } = Promise.withResolvers<number | null>();
  const end = { isTimeout: false, isTooLong: false, stdout: "", stderr: "" };
  const stop = (): void => {
    child.kill("SIGKILL");
    // Its own child processes may keep the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      end[name] += text;
      if (end[name].length > maxOutput) {
        end.isTooLong = true;
        stop();
      }
    });
  }
  child.once("error", reject);
  child.once("close", resolve);
  child.stdin.on("error", () => undefined).end();
  const timer = setTimeout(() => {
    end.isTimeout = true;
    stop();
  }, timeoutMs ?? LONGEST_MS);
  const exitCode = await ended.finally(() => clearTimeout(timer));
  if (exitCode !== 0) {
    throw new ProgramError(program, { ...end, exitCode });
  }
  return end;
}
