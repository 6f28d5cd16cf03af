import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isAlive, killNow, listByVariable, ownStartTime } from "./linux-processes.ts";

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
