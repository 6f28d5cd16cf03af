import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { withTimeout } from "../core/basics/clock.ts";
import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { Sandbox, SandboxCommand, SandboxExit } from "../sandboxes/sandbox.ts";

export interface SetupCommand {
  readonly sandbox: Sandbox;
  /** Everything of the sandbox command except the program. */
  readonly options: Omit<SandboxCommand, "argv">;
  readonly command: string;
  readonly timeoutMs: number;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** How a command ended. `undefined`: successfully. */
export type SetupProblem = "time-out" | "stopped" | SandboxExit | undefined;

const DRAIN_MS = 2_000;
/**
 * Users write for bash, which small images lack. The system profile of a login shell resets PATH, so the folders of
 * the image are added again.
 */
const LOGIN = 'PATH="$PATH:$ERRAND_PATH"; unset ERRAND_PATH; command=$1; shift; eval "$command"';
const SHELL = [
  'export ERRAND_PATH="$PATH"',
  `if command -v bash >/dev/null 2>&1; then exec bash -lc '${LOGIN}' bash "$1"; fi`,
  `exec sh -lc '${LOGIN}' sh "$1"`,
].join("\n");

/** Runs the command and ends everything that it leaves running. */
export async function runSetupCommand(command: SetupCommand): Promise<SetupProblem> {
  const { options, sandbox, signal, timeoutMs } = command;
  if (signal.aborted) {
    return "stopped";
  }
  const inside = sandbox.spawn({ ...options, argv: ["/bin/sh", "-c", SHELL, "sh", command.command] });
  inside.stdin.on("error", () => undefined).end();
  const drained = [inside.stdout, inside.stderr].map((stream) => listen(stream, command.say));
  const broken = brokenOff(signal, timeoutMs);
  try {
    const end = await Promise.race([inside.exited, broken.promise]);
    return typeof end !== "string" && end.code === 0 ? undefined : end;
  } finally {
    broken.release();
    await inside.kill();
    await withTimeout(Promise.all(drained), DRAIN_MS);
  }
}

/** The error for people, with the last output of the command. */
export function setupFailure(
  problem: Exclude<SetupProblem, undefined>,
  what: string,
  tail: string,
): AppError {
  const said = tail.trim() === "" ? "" : `\n${tail.trim()}`;
  const remedy = typeof problem === "string" ? undefined : problem.remedy;
  return new AppError(
    "environment_setup_failed",
    `${what} ${textOf(problem)}${said}`,
    defined({ retryable: false, remedy }),
  );
}

function textOf(problem: Exclude<SetupProblem, undefined>): string {
  if (problem === "time-out") {
    return "did not end in time and was ended.";
  }
  if (problem === "stopped") {
    return "was stopped.";
  }
  if (problem.reason !== undefined) {
    return problem.code === 127 ? `could not be run: ${problem.reason}` : `was ended: ${problem.reason}`;
  }
  return problem.code === null
    ? `was ended by ${problem.signal ?? "the system"}.`
    : `failed with exit code ${problem.code}.`;
}

async function listen(stream: Readable, say: (text: string) => void): Promise<void> {
  const decoder = new StringDecoder("utf8");
  // A broken stream ends the output. The exit tells how the command ended.
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => say(decoder.write(chunk)));
  await new Promise((resolve) => stream.once("close", resolve));
}

function brokenOff(
  signal: AbortSignal,
  timeoutMs: number,
): { readonly promise: Promise<"time-out" | "stopped">; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<"time-out" | "stopped">();
  const stop = () => resolve("stopped");
  const timer = globalThis.setTimeout(() => resolve("time-out"), timeoutMs);
  signal.addEventListener("abort", stop, { once: true });
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  };
  return { promise, release };
}
