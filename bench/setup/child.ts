import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { waitFor } from "../../test/support/wait-for.ts";

const READY_MS = 60_000;
const POLL_MS = 5;

export interface ChildOptions {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly account?: { readonly uid?: number; readonly gid?: number };
  /** Receives all output, because reading a pipe would take processor time. */
  readonly outputFile: string;
  /** Matches the output when the process is ready. */
  readonly ready: RegExp;
  readonly stopSignal?: NodeJS.Signals;
}

export interface Child {
  readonly pid: number;
  readonly readyAfterMs: number;
  /** The match of `ready`. */
  readonly readyMatch: RegExpExecArray;
  stop(): Promise<void>;
}

/** Starts a process and waits until it is ready. The process ends at the latest with this one. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const startMs = performance.now();
  const child = spawnChild(options);
  const { stopSignal = "SIGTERM" } = options;
  const stopWithUs = () => child.kill(stopSignal);
  process.once("exit", stopWithUs);
  child.once("exit", () => process.off("exit", stopWithUs));
  const readyMatch = await waitFor(() => readReady(child, options), {
    what: `${options.program} ${options.parameters.join(" ")}`,
    timeoutMs: READY_MS,
    everyMs: POLL_MS,
  });
  return {
    pid: child.pid ?? 0,
    readyAfterMs: performance.now() - startMs,
    readyMatch,
    stop: () => stop(child, stopSignal),
  };
}

function spawnChild({ program, parameters, environment, account, outputFile }: ChildOptions): ChildProcess {
  const output = openSync(outputFile, "a");
  try {
    return spawn(program, parameters, {
      ...account,
      cwd: account === undefined ? process.cwd() : "/",
      env: { PATH: process.env.PATH, ...environment },
      stdio: ["ignore", output, output],
    });
  } finally {
    closeSync(output);
  }
}

async function readReady(child: ChildProcess, options: ChildOptions): Promise<RegExpExecArray | null> {
  const written = await readFile(options.outputFile, "utf8");
  if (!isGone(child)) {
    return options.ready.exec(written);
  }
  process.stderr.write(written);
  process.exit(1);
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (isGone(child)) {
    return;
  }
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
