import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { type Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { runProgram } from "../../child-process/run-program.ts";
import { startProgram } from "../../child-process/start-program.ts";
import {
  endProcesses,
  findProcess,
  isAlive,
  killNow,
  listBelow,
  MARKER,
  type ProcessIdentity,
} from "../linux-processes.ts";
import type { ListedProcess, SandboxCommand, SandboxExit, SandboxProcess } from "../sandbox.ts";
import { type SandboxLimits, withLimitNamed } from "../sandbox-limits.ts";
import { StderrHead } from "../stderr-head.ts";
import { bubblewrapArgs } from "./bubblewrap-args.ts";
import { Cgroup, type CgroupParent } from "./cgroup.ts";

const STATUS_FD = 3;
const ARGS_FD = 4;
/** bubblewrap waits on this descriptor before it starts the command, so that limits can be set. */
const BLOCK_FD = 5;
const FILTER_FD = 6;
const GONE_EVERY_MS = 5;

export interface BubblewrapMeans {
  readonly program: string;
  readonly path: string;
  readonly marker: string;
  readonly limits: SandboxLimits;
  /** The system call filter of the command. Undefined: there is none for this machine's processor. */
  readonly filter: Buffer | undefined;
  readonly parents: Promise<readonly CgroupParent[]>;
}

/** One sandbox, from its first process to its last. */
export class BubblewrapProcess implements SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<SandboxExit>;
  readonly #command: SandboxCommand;
  readonly #means: BubblewrapMeans;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #status: BubblewrapStatus;
  readonly #stderrHead: StderrHead;
  /**
   * Undefined when the sandbox never started. If it rejects, the limits could not be set and the command was not
   * started.
   */
  readonly #limited: Promise<Cgroup | undefined>;
  #removed: Promise<void> | undefined;

  constructor(command: SandboxCommand, means: BubblewrapMeans) {
    this.#command = command;
    this.#means = means;
    this.#child = startBubblewrap(command, means);
    this.#stderrHead = new StderrHead(this.#child.stderr);
    this.#status = new BubblewrapStatus(this.#child.stdio[STATUS_FD] as Readable);
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout;
    this.stderr = this.#stderrHead.stderr;
    this.#limited = this.#limit();
    // It may reject long before it is awaited.
    this.#limited.catch(() => undefined);
    this.exited = this.#watchExit();
    // The caller of `kill` gets the error. Otherwise the next sweep finds what is left.
    this.exited.then(() => this.#removeCgroup()).catch(() => undefined);
  }

  /**
   * Killing bubblewrap ends the sandbox through `--die-with-parent`, except during its setup. So its first process is
   * killed too, and the kernel then ends all others of the namespace.
   */
  async kill(): Promise<void> {
    await this.#killProcesses();
    await this.#removeCgroup();
  }

  async list(): Promise<readonly ListedProcess[]> {
    const first = await this.#status.firstProcess;
    return first === undefined || !(await isAlive(first)) ? [] : listBelow(first.pid);
  }

  async end(processes: readonly ListedProcess[]): Promise<void> {
    await endProcesses(processes);
  }

  async #removeCgroup(): Promise<void> {
    const cgroup = await this.#limited.catch(() => undefined);
    this.#removed ??= cgroup?.remove();
    await this.#removed;
  }

  async #killProcesses(): Promise<void> {
    const { firstProcess } = this.#status;
    const first = await Promise.race([firstProcess, this.exited.then(() => firstProcess)]);
    const { exitCode, pid, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      killNow(pid);
    }
    if (first !== undefined) {
      await killUntilGone(first);
    }
  }

  async #limit(): Promise<Cgroup | undefined> {
    const first = await this.#status.firstProcess;
    if (first === undefined) {
      return undefined;
    }
    try {
      const cgroup = await this.#setLimits(first.pid);
      pipeOf(this.#child, BLOCK_FD).end("go");
      return cgroup;
    } catch (error) {
      // Nothing runs without its limits.
      await killUntilGone(first);
      throw error;
    }
  }

  async #setLimits(pid: number): Promise<Cgroup> {
    const { limits, marker, parents } = this.#means;
    const cgroup = await Cgroup.create(await parents, marker, limits);
    try {
      await cgroup.add(pid);
      await limitProcess(pid, limits);
      return cgroup;
    } catch (error) {
      // The cgroup can be removed once the process is gone.
      void cgroup.remove().catch(() => undefined);
      throw error;
    }
  }

  async #watchExit(): Promise<SandboxExit> {
    const exit = await ending(this.#child);
    const problem = await this.#limited.then(
      () => undefined,
      (error) => `The sandbox's limits could not be set: ${error instanceof Error ? error.message : error}`,
    );
    if (exit.signal !== null || exit.reason !== undefined) {
      return exit;
    }
    // bubblewrap's own error comes first: if it failed, there is nothing left to limit.
    const hasRun = (await this.#status.exitCode) !== undefined;
    const stderr = hasRun ? "" : await this.#stderrHead.text();
    const reason = stderr || problem || (hasRun ? undefined : "bubblewrap gave no reason");
    return reason === undefined ? await this.#explained(exit) : { code: 127, signal: null, reason };
  }

  async #explained(exit: SandboxExit): Promise<SandboxExit> {
    const errorText = await this.#forwarderError(exit);
    if (errorText !== undefined) {
      return { ...exit, reason: errorText };
    }
    const cgroup = await this.#limited;
    return withLimitNamed(exit, this.#means.limits, (await cgroup?.memoryKills()) ?? 0);
  }

  async #forwarderError({ code }: SandboxExit): Promise<string | undefined> {
    const mayBeForwarders = code === 127 && this.#command.portForward !== undefined;
    return mayBeForwarders ? await this.#stderrHead.forwarderError() : undefined;
  }
}

function startBubblewrap(
  command: SandboxCommand,
  { filter, marker, path, program }: BubblewrapMeans,
): ChildProcessWithoutNullStreams {
  const channels = ["--json-status-fd", STATUS_FD, "--args", ARGS_FD, "--block-fd", BLOCK_FD].map(String);
  // bubblewrap itself runs outside, so it gets nothing of the agent's environment, such as LD_PRELOAD.
  const env = { [MARKER]: marker, PATH: path };
  // Through a pipe, because every process of the host can read arguments.
  const args = bubblewrapArgs(command).map((arg) => `${arg}\0`);
  const inputs = new Map<number, string | Buffer>([[ARGS_FD, args.join("")]]);
  if (filter !== undefined) {
    channels.push("--seccomp", String(FILTER_FD));
    inputs.set(FILTER_FD, filter);
  }
  const argv = [...channels, "--", ...command.argv];
  const child = startProgram(program, argv, { env, channels: filter === undefined ? 3 : 4 });
  // If bubblewrap could not be started, its exit reports that.
  pipeOf(child, BLOCK_FD).on("error", () => {});
  for (const [fd, input] of inputs) {
    pipeOf(child, fd)
      .on("error", () => {})
      .end(input);
  }
  return child;
}

/** The types know five pipes at most. */
function pipeOf({ stdio }: ChildProcess, fd: number): Writable {
  const pipes: readonly unknown[] = stdio;
  const pipe = pipes[fd];
  if (!(pipe instanceof Writable)) {
    throw new Error(`The process has no pipe ${fd}.`);
  }
  return pipe;
}

function ending(child: ChildProcess): Promise<SandboxExit> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, signal: null, reason: error.message }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function killUntilGone(first: ProcessIdentity): Promise<void> {
  while (await isAlive(first)) {
    killNow(first.pid);
    await setTimeout(GONE_EVERY_MS);
  }
}

const statusLine = z.object({ "child-pid": z.number().optional(), "exit-code": z.number().optional() });

/** Reads bubblewrap's status, one JSON object per line (`--json-status-fd`). */
export class BubblewrapStatus {
  /**
   * The first process of the sandbox as the host sees it. When it is gone, all are gone. Undefined: it never started.
   */
  readonly firstProcess: Promise<ProcessIdentity | undefined>;
  /** Undefined when the command never ran. */
  readonly exitCode: Promise<number | undefined>;

  constructor(lines: Readable) {
    const firstProcess = Promise.withResolvers<ProcessIdentity | undefined>();
    const exitCode = Promise.withResolvers<number | undefined>();
    this.firstProcess = firstProcess.promise;
    this.exitCode = exitCode.promise;
    let text = "";
    let hasBegun = false;
    lines.setEncoding("utf8");
    lines.on("data", (chunk: string) => {
      text += chunk;
      const pid = hasBegun ? undefined : find(text, "child-pid");
      if (pid === undefined) {
        return;
      }
      hasBegun = true;
      // Resolved once, because a rejection before anything awaits it would be unhandled.
      firstProcess.resolve(findProcess(pid));
    });
    lines.once("close", () => {
      firstProcess.resolve(undefined);
      exitCode.resolve(find(text, "exit-code"));
    });
  }
}

function find(text: string, member: "child-pid" | "exit-code"): number | undefined {
  const complete = text.split("\n").slice(0, -1);
  return complete
    .map((line) => statusLine.parse(JSON.parse(line))[member])
    .find((value) => value !== undefined);
}

/**
 * Limits that the kernel enforces without cgroups. They are set on the sandbox's first process and inherited by all
 * others. The kernel counts only processes of the sandbox, because it has its own user namespace; it does not count
 * those of root. RLIMIT_AS cannot limit memory, because programs that reserve address space, such as Node, fail at
 * once.
 */
async function limitProcess(pid: number, { fileBytes, processes }: SandboxLimits): Promise<void> {
  const limits = [`--fsize=${fileBytes}`, `--nproc=${processes}`, "--core=0"];
  await runProgram("prlimit", ["--pid", String(pid), ...limits], { env: {} });
}
