import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
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
function ownStartTime(): string {
  return existsSync("/proc/self/stat")
    ? (parseStat(readFileSync("/proc/self/stat", "utf8")).startTime ?? "")
    : "";
}

export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await findProcess(pid))?.startTime === startTime;
}

/** The value of a variable in the initial environment of each running process that had it. */
async function listByVariable(name: string): Promise<readonly { pid: number; value: string }[]> {
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

/**
 * Every process of a local sandbox has this variable, and so do its children in any group or session. They are found
 * again by it. In a bubblewrap sandbox only the first process has it, because all others end with that one. The value
 * is `<data directory>.<owner's pid>.<owner's start>.<sandbox>`.
 */
export const MARKER = "ERRAND_SANDBOX_ID";

const RESCAN_MS = 10;
const GIVE_UP_MS = 10_000;

/** A process that is just calling exec has no environment for a moment, so only a second empty reading counts. */
const EMPTY_LOOKS = 2;

export function makeMarker(dataDir: string): string {
  return [scopeOf(dataDir), process.pid, ownStartTime(), crypto.randomUUID()].join(".");
}

export async function killMarked(marker: string): Promise<void> {
  await killUntilNone(async (value) => value === marker);
}

/**
 * Kills what earlier workers of this data directory left running when they were killed, and returns the number of
 * processes. A worker calls it at its start, before it claims a run. Processes of live workers are left alone.
 */
export async function sweepOrphans(dataDir: string): Promise<number> {
  return await killUntilNone((marker) => isOrphan(marker, dataDir));
}

/** Whether the process belonged to a worker of this data directory that is gone. */
export async function isOrphan(marker: string, dataDir: string): Promise<boolean> {
  const [scope, pid, startTime] = marker.split(".");
  return scope === scopeOf(dataDir) && !(await isAlive({ pid: Number(pid), startTime: startTime ?? "" }));
}

async function killUntilNone(isWanted: (marker: string) => Promise<boolean>): Promise<number> {
  const killed = new Set<number>();
  const deadline = performance.now() + GIVE_UP_MS;
  for (let emptyLooks = 0; emptyLooks < EMPTY_LOOKS; ) {
    const found = await listWanted(isWanted);
    for (const pid of found) {
      killNow(pid);
      killed.add(pid);
    }
    emptyLooks = found.length === 0 ? emptyLooks + 1 : 0;
    if (performance.now() > deadline) {
      throw new Error(`processes of a sandbox outlive SIGKILL: ${found.join(", ")}`);
    }
    await setTimeout(RESCAN_MS);
  }
  return killed.size;
}

async function listWanted(isWanted: (marker: string) => Promise<boolean>): Promise<readonly number[]> {
  const wanted: number[] = [];
  for (const { pid, value } of await listByVariable(MARKER)) {
    if (await isWanted(value)) {
      wanted.push(pid);
    }
  }
  return wanted;
}

export function scopeOf(dataDir: string): string {
  return createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 16);
}
