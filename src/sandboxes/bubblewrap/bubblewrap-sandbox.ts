import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { isAlive, killNow, type ProcessIdentity } from "../linux-processes.ts";
import type { Sandbox, SandboxCommand, SandboxExit, SandboxProcess } from "../sandbox.ts";
import { bubblewrapArgs } from "./bubblewrap-args.ts";
import { BubblewrapStatus } from "./bubblewrap-status.ts";

const STATUS_FD = 3;
const ARGS_FD = 4;
const GONE_EVERY_MS = 5;
const COMPLAINT_CHARS = 500;

const REMEDY = "Install bubblewrap 0.8 or newer, and allow unprivileged user namespaces.";

/** Linux namespaces without a daemon: own processes, network and file system. README.md beside this file says what holds. */
export function createBubblewrapSandbox(program = "bwrap"): Sandbox {
  let tried: Promise<string | undefined> | undefined;
  return {
    name: "bubblewrap",
    isolated: true,
    unavailable: () => {
      tried ??= tryOnce(program);
      return tried;
    },
    spawn: (command) => spawnInside(program, command),
  };
}

/** That it is installed says little: kernels and containers forbid namespaces. So it is really used once. */
async function tryOnce(program: string): Promise<string | undefined> {
  const inside = spawnInside(program, {
    argv: ["/bin/sh", "-c", "exit 0"],
    env: {},
    cwd: "/tmp",
    writable: [],
    readable: [],
  });
  inside.stdin.on("error", () => {}).end();
  inside.stdout.resume();
  const [exit, complaint] = await Promise.all([inside.exited, text(inside.stderr)]);
  return exit.code === 0 ? undefined : `${(exit.reason ?? complaint).trim()}. ${REMEDY}`;
}

function spawnInside(program: string, command: SandboxCommand): SandboxProcess {
  const child = spawn(
    program,
    ["--json-status-fd", `${STATUS_FD}`, "--args", `${ARGS_FD}`, "--", ...command.argv],
    {
      // Bubblewrap itself runs outside, so it gets nothing of the agent's environment (think of LD_PRELOAD).
      env: {},
      stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    },
  );
  sendArgs(child, command);
  const [stdin, stdout, errors] = child.stdio as [Writable, Readable, Readable, unknown, unknown];
  const status = new BubblewrapStatus(child.stdio[STATUS_FD] as Readable);
  const stderr = errors.pipe(new PassThrough());
  const exited = watchExit(child, status, firstComplaint(errors));
  return { stdin, stdout, stderr, exited, kill: () => kill(child, status, exited) };
}

/** Through a pipe, as an argument is there for every process of the host to read. */
function sendArgs(child: ChildProcess, command: SandboxCommand): void {
  const pipe = child.stdio[ARGS_FD] as Writable;
  // When bubblewrap could not be started, its exit says so.
  pipe.on("error", () => {});
  pipe.end(
    bubblewrapArgs(command)
      .map((arg) => `${arg}\0`)
      .join(""),
  );
}

function firstComplaint(errors: Readable): () => string {
  let complaint = "";
  errors.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(0, COMPLAINT_CHARS);
  });
  return () => complaint.trim() || "bubblewrap gave no reason";
}

async function watchExit(
  child: ChildProcess,
  status: BubblewrapStatus,
  complaint: () => string,
): Promise<SandboxExit> {
  const { promise, resolve } = Promise.withResolvers<SandboxExit>();
  child.once("error", (error) => resolve({ code: 127, signal: null, reason: error.message }));
  child.once("exit", (code, signal) => resolve({ code, signal }));
  const exit = await promise;
  if (exit.signal !== null || exit.reason !== undefined || (await status.exitCode) !== undefined) {
    return exit;
  }
  return { code: 127, signal: null, reason: complaint() };
}

/**
 * Killing bubblewrap ends the sandbox by `--die-with-parent`, but not while it is still being set up; so its first
 * process is killed by name as well, and with that one the kernel ends all others of its namespace.
 */
async function kill(
  child: ChildProcess,
  status: BubblewrapStatus,
  exited: Promise<SandboxExit>,
): Promise<void> {
  const first = await Promise.race([status.firstProcess, exited.then(() => status.firstProcess)]);
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    killNow(child.pid);
  }
  if (first !== undefined) {
    await killUntilGone(first);
  }
}

async function killUntilGone(first: ProcessIdentity): Promise<void> {
  while (await isAlive(first)) {
    killNow(first.pid);
    await setTimeout(GONE_EVERY_MS);
  }
}
