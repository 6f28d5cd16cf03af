import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { ListedProcess } from "./sandbox.ts";

/** There may be more processes than file descriptors. */
const READ_AT_ONCE = 32;
/** How much of the arguments of a process is read. */
const ARGUMENTS_CHARS = 4_096;

/** Identifies a process by more than its number, because the kernel reuses numbers. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's ticks since boot. */
  readonly startTime: string;
}

/** Undefined when there is no such process or no /proc. A zombie counts as gone. */
export async function findProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readProc(`/proc/${pid}/stat`);
  const { state, startTime }: ProcessStat = stat === undefined ? {} : parseStat(stat);
  return startTime === undefined || state === "Z" || state === "X" ? undefined : { pid, startTime };
}

/** The start time of this process. Without /proc it is never compared. */
export function ownStartTime(): string {
  return existsSync("/proc/self/stat")
    ? (parseStat(readFileSync("/proc/self/stat", "utf8")).startTime ?? "")
    : "";
}

export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await findProcess(pid))?.startTime === startTime;
}

/** The value of a variable in the initial environment of each running process that had it. */
export async function listByVariable(name: string): Promise<readonly { pid: number; value: string }[]> {
  const pids = (await listPids()).filter((pid) => pid !== process.pid);
  const values = await readEach(pids, (pid) => variableOf(pid, name));
  return pids.flatMap((pid, index) => {
    const value = values[index];
    return value === undefined ? [] : [{ pid, value }];
  });
}

/** The processes that `root` and its descendants started, as the kernel counts them outside of namespaces. */
export async function listBelow(root: number): Promise<readonly ListedProcess[]> {
  const children = Map.groupBy(await readStats(await listPids()), ({ parent }) => parent);
  const below = [...(children.get(root) ?? [])];
  for (const { pid } of below) {
    below.push(...(children.get(pid) ?? []));
  }
  return withArguments(below);
}

/** The running processes that had a variable with this value in their initial environment. */
export async function listMarked(name: string, value: string): Promise<readonly ListedProcess[]> {
  const marked = (await listByVariable(name)).filter((each) => each.value === value);
  return withArguments(await readStats(marked.map(({ pid }) => pid)));
}

export async function endProcesses(processes: readonly ListedProcess[]): Promise<void> {
  for (const each of processes) {
    if (await isAlive(each)) {
      killNow(each.pid);
    }
  }
}

interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
}

async function readStats(pids: readonly number[]): Promise<readonly RunningProcess[]> {
  const stats = await readEach(pids, (pid) => readProc(`/proc/${pid}/stat`));
  return pids.flatMap((pid, index) => {
    const { parent, startTime, state } = parseStat(stats[index] ?? "");
    return startTime === undefined || state === "Z" || state === "X"
      ? []
      : [{ pid, startTime, parent: Number(parent) }];
  });
}

async function withArguments(processes: readonly RunningProcess[]): Promise<readonly ListedProcess[]> {
  const pids = new Set(processes.map(({ pid }) => pid));
  const lines = await readEach([...pids], (pid) => readProc(`/proc/${pid}/cmdline`));
  return processes.map(({ parent, pid, startTime }, index) => ({
    pid,
    startTime,
    parent: pids.has(parent) ? parent : undefined,
    argv: (lines[index] ?? "").slice(0, ARGUMENTS_CHARS).split("\0").filter(Boolean),
  }));
}

async function readEach<T>(
  pids: readonly number[],
  read: (pid: number) => Promise<T>,
): Promise<readonly T[]> {
  const values: T[] = [];
  for (let start = 0; start < pids.length; start += READ_AT_ONCE) {
    values.push(...(await Promise.all(pids.slice(start, start + READ_AT_ONCE).map(read))));
  }
  return values;
}

async function listPids(): Promise<readonly number[]> {
  return (await listProc()).filter((entry) => /^\d+$/.test(entry)).map(Number);
}

/** Sends SIGKILL. A process that is already gone is not an error. A negative pid means its process group. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!hasCode(error, "ESRCH")) {
      throw error;
    }
  }
}

interface ProcessStat {
  readonly state?: string | undefined;
  readonly parent?: string | undefined;
  readonly startTime?: string | undefined;
}

function parseStat(stat: string): ProcessStat {
  // The name in parentheses may contain anything, so the fields after it are counted.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0], parent: fields[1], startTime: fields[19] };
}

async function variableOf(pid: number, name: string): Promise<string | undefined> {
  const environment = await readProc(`/proc/${pid}/environ`);
  const entry = environment?.split("\0").find((variable) => variable.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

async function listProc(): Promise<readonly string[]> {
  try {
    return await readdir("/proc");
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return [];
    }
    throw error;
  }
}

/** Processes come and go meanwhile, and those of other users are not readable. */
async function readProc(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) {
      return undefined;
    }
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}
