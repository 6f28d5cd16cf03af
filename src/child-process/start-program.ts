import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type StdioOptions,
  spawn,
} from "node:child_process";
import { AppError } from "../core/basics/errors.ts";
import { INHERITED, NULL_DEVICE } from "./inherited-descriptors.ts";

export interface ProgramOptions {
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: that of this process. */
  readonly cwd?: string;
  /** Other account. Default: that of this process. */
  readonly uid?: number;
  readonly gid?: number;
  /** Kills the program when aborted. */
  readonly signal?: AbortSignal | undefined;
}

interface StartOptions extends ProgramOptions {
  /** Sent when `signal` is aborted. Default: SIGTERM. */
  readonly killSignal?: NodeJS.Signals;
  /** A process group of its own. */
  readonly detached?: boolean;
  /** Further pipes besides stdin, stdout and stderr: descriptors 3, 4, … of the program. */
  readonly channels?: number;
}

const STANDARD_STREAMS = 3;

/**
 * Starts a program. Every program of this process is started here, so that none gets a descriptor that this process
 * inherited. Throws if this process has no descriptor left for the pipes.
 */
export function startProgram(
  program: string,
  args: readonly string[],
  { channels = 0, ...options }: StartOptions,
): ChildProcessWithoutNullStreams {
  return withPipes(
    spawn(program, [...args], { ...options, stdio: descriptorsOf(STANDARD_STREAMS + channels) }),
  );
}

/**
 * The list has a place for each number up to the highest inherited one. Only a descriptor of `/dev/null` replaces an
 * inherited one: "ignore" would leave it open.
 */
function descriptorsOf(pipes: number): StdioOptions {
  const places = Math.max(pipes, ...INHERITED.map((descriptor) => descriptor + 1));
  const inherited = new Set(INHERITED);
  return Array.from({ length: places }, (_, place) => {
    if (place < pipes) {
      return "pipe";
    }
    return inherited.has(place) ? NULL_DEVICE : "ignore";
  });
}

/**
 * If this process has no free file descriptor, Node returns a child without pipes and reports the error later. Code that
 * uses a missing pipe before it listens for that error would end our process.
 */
function withPipes<Child extends ChildProcess>(child: Child): ChildProcessWithoutNullStreams {
  if (hasPipes(child)) {
    return child;
  }
  child.once("error", () => undefined);
  throw new AppError("resource_unavailable", "No program can be started: too many files are open.", {
    remedy: "Ask the operator of this server for a higher limit of open files (ulimit -n).",
  });
}

/** The types do not describe a child without any `stdio`. */
function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  const stdio: unknown = child.stdio;
  return stdio !== undefined;
}
