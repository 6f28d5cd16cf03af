import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ToolCallUpdate } from "../../core/model/runs/agent-update.ts";
import type { LocalMcpServer } from "../../core/ports/agent-runner.ts";
import type { ListedProcess, SandboxProcess } from "../../sandboxes/sandbox.ts";
import { callFactsOf, joinedCall } from "./call-facts.ts";

const LOOK_EVERY_MS = 200;
/** An agent that reports the end of its task has begun by then. */
const QUIET_MS = 2_000;
/** Killed processes may start others for a moment. */
const ENDS_MAX = 10;
const CALLS_MAX = 200;
const SHELLS: ReadonlySet<string> = new Set(["sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh"]);
/** Servers that build tools start for themselves and that end by themselves. Nobody waits for what they do. */
const DAEMONS =
  /GradleDaemon|KotlinCompileDaemon|VBCSCompiler|nodeReuse|fsmonitor--daemon|^(\S*\/)?(adb|bazel|gpg-agent|sccache|ssh-agent|watchman)( |$)/;

export interface BackgroundTasksOptions {
  readonly process: Pick<SandboxProcess, "end" | "list">;
  readonly mcpServers: readonly LocalMcpServer[];
  /** How long the end of a turn waits for tasks. */
  readonly limitMs: number;
  /** When the agent last reported something, by `performance.now()`. */
  readonly updatedAt: () => number;
}

/**
 * Finds the commands that an agent leaves running at the end of its turn. Its own helpers are processes too: MCP servers,
 * language servers, a shell that it keeps for its commands. A process is a task if it began in the turn and one of these is
 * true:
 *
 * - The process that started it, or its ancestor of the turn, has ended: a command in the background of a shell.
 * - It runs in a shell that the agent itself started in the turn: its tool for commands.
 * - Its command line is part of a command that a tool call of the turn named, because shells replace themselves by their
 *   last command.
 *
 * A program that the agent itself starts without a shell, and that no tool call names, is its helper.
 */
export class BackgroundTasks {
  readonly #options: BackgroundTasksOptions;
  /** Those of the turn. */
  readonly #calls = new Map<string, ToolCallUpdate>();
  #before: ReadonlySet<string> = new Set();

  constructor(options: BackgroundTasksOptions) {
    this.#options = options;
  }

  /** Before a turn: what runs now is no task of the turn. */
  async begin(): Promise<void> {
    this.#calls.clear();
    this.#before = new Set((await this.#list()).map(identityOf));
  }

  onToolCall(update: ToolCallUpdate): void {
    const known = this.#calls.get(update.toolCallId);
    if (known !== undefined || this.#calls.size < CALLS_MAX) {
      this.#calls.set(update.toolCallId, joinedCall(known, update));
    }
  }

  /**
   * Waits until the tasks of the turn have ended and the agent is quiet, until the limit, or until `isCancelled`. Then
   * ends the tasks that are left, and returns their command lines.
   */
  async finish(isCancelled: () => boolean): Promise<readonly string[]> {
    const deadline = performance.now() + this.#options.limitMs;
    let tasks = await this.#tasks();
    const hadTasks = tasks.length > 0;
    let noTasksAt = 0;
    const quietAt = () => Math.max(noTasksAt, this.#options.updatedAt()) + QUIET_MS;
    const isWaiting = () => tasks.length > 0 || (hadTasks && performance.now() < quietAt());
    while (isWaiting() && performance.now() < deadline && !isCancelled()) {
      await pause(LOOK_EVERY_MS);
      const now = await this.#tasks();
      if (tasks.length > 0 && now.length === 0) {
        noTasksAt = performance.now();
      }
      tasks = now;
    }
    const stopped = linesOf(tasks);
    for (let times = 0; tasks.length > 0 && times < ENDS_MAX; times += 1) {
      await this.#options.process.end(tasks);
      tasks = await this.#tasks();
    }
    return stopped;
  }

  async #tasks(): Promise<readonly ListedProcess[]> {
    const fresh = (await this.#list()).filter((each) => !this.#before.has(identityOf(each)));
    if (fresh.length === 0) {
      return [];
    }
    const byPid = new Map(fresh.map((each) => [each.pid, each]));
    const commands = [...this.#calls.values()].map((call) => plain(callFactsOf(call).command ?? ""));
    return fresh.filter((each) => this.#isTask(lineageOf(each, byPid), commands));
  }

  /** `lineage`: the process and its ancestors of the turn. */
  #isTask(lineage: readonly ListedProcess[], commands: readonly string[]): boolean {
    const top = lineage.at(-1);
    if (top === undefined || lineage.some((each) => DAEMONS.test(lineOf(each)) || this.#isMcpServer(each))) {
      return false;
    }
    const isInShell = isShell(top) && (lineage.length > 1 || !isWaitingShell(top));
    return top.parent === undefined || isInShell || lineage.some((each) => isNamed(each, commands));
  }

  #isMcpServer(each: ListedProcess): boolean {
    const line = lineOf(each);
    return this.#options.mcpServers.some(({ args, command }) => line.endsWith([command, ...args].join(" ")));
  }

  /** A dead agent has no processes that matter. */
  async #list(): Promise<readonly ListedProcess[]> {
    return this.#options.process.list().catch(() => []);
  }
}

/** A program without arguments may be a helper whose name a command contains. */
function isNamed(each: ListedProcess, commands: readonly string[]): boolean {
  const line = plain(lineOf(each));
  return each.argv.length > 1 && commands.some((command) => command.includes(line));
}

function lineageOf(each: ListedProcess, byPid: ReadonlyMap<number, ListedProcess>): readonly ListedProcess[] {
  const lineage: ListedProcess[] = [];
  for (let next: ListedProcess | undefined = each; next !== undefined && !lineage.includes(next); ) {
    lineage.push(next);
    next = next.parent === undefined ? undefined : byPid.get(next.parent);
  }
  return lineage;
}

function identityOf({ pid, startTime }: ListedProcess): string {
  return `${pid} ${startTime}`;
}

function lineOf({ argv }: ListedProcess): string {
  return argv.join(" ");
}

function isShell({ argv: [program = ""] }: ListedProcess): boolean {
  return SHELLS.has(basename(program).replace(/^-/, ""));
}

/** A shell without a command or script reads commands from the agent. */
function isWaitingShell({ argv: [, ...args] }: ListedProcess): boolean {
  return args.every((arg) => arg.startsWith("-") && !/^-[a-z]*c/.test(arg));
}

/** Without what a shell removes. */
function plain(command: string): string {
  return command
    .replaceAll(/["'\\]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The command lines, without the shells around them. */
function linesOf(tasks: readonly ListedProcess[]): readonly string[] {
  const parents = new Set(tasks.map(({ parent }) => parent));
  const leaves = tasks.filter(({ pid }) => !parents.has(pid));
  return [...new Set(leaves.map(lineOf))].filter(Boolean);
}
