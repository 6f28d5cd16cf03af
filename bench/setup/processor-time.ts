import { readdir, readFile } from "node:fs/promises";

/** The unit of times in /proc, independent of the kernel's own ticks (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;
/** Positions after the field with the program's name. */
const FIELDS = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const;
const IDLE_FIELDS = [3, 4];
/** The fields after these count guests, whose time is already in the user's time. */
const COUNTED_FIELDS = 8;

type Times = { readonly parent: number; readonly own: number; readonly ended: number };

/** Seconds of processor time of each process and its descendants, including those that have ended. */
export async function secondsOf<Name extends string>(
  pids: Readonly<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const processes = await readProcesses();
  const ticksOf = (pid: number): number => {
    const times = processes.get(pid);
    if (times === undefined) {
      return 0;
    }
    const below = [...processes].filter(([, { parent }]) => parent === pid);
    return below.reduce((sum, [child]) => sum + ticksOf(child), times.own + times.ended);
  };
  const entries = Object.entries<number>(pids).map(([name, pid]) => [name, ticksOf(pid) / TICKS_PER_SECOND]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/**
 * Seconds that the machine was busy with any process. Time that other machines on the same host took counts as well.
 */
export async function busySeconds(): Promise<number> {
  const line = (await readFile("/proc/stat", "utf8")).split("\n", 1)[0] ?? "";
  const fields = line
    .split(/\s+/)
    .slice(1, 1 + COUNTED_FIELDS)
    .map(Number);
  const busy = fields.filter((_, index) => !IDLE_FIELDS.includes(index));
  return busy.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** The resident memory of a process in MiB. */
export async function residentMebibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

async function readProcesses(): Promise<ReadonlyMap<number, Times>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const read = await Promise.all(pids.map(async (pid) => [pid, await readTimes(pid)] as const));
  return new Map(read.filter((entry): entry is [number, Times] => entry[1] !== undefined));
}

/** Undefined if the process has just ended. */
async function readTimes(pid: number): Promise<Times | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) {
    return undefined;
  }
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const field = (index: number) => fields[index] ?? 0;
  return {
    parent: field(FIELDS.parent),
    own: field(FIELDS.user) + field(FIELDS.system),
    ended: field(FIELDS.childrenUser) + field(FIELDS.childrenSystem),
  };
}
