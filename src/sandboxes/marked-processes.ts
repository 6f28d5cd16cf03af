import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isAlive, killNow, listByVariable, ownStartTime } from "./linux-processes.ts";

/**
 * Every process of a local sandbox carries this variable, and so does what it starts, in whatever group or session:
 * by it they are found again. Of a bubblewrap sandbox the first process does, with which all others end. Its value
 * is `<data directory>.<owner's pid>.<owner's start>.<sandbox>`.
 */
export const MARKER = "ERRAND_SANDBOX_ID";

const RESCAN_MS = 10;
const GIVE_UP_MS = 10_000;

/** A process that is just calling exec has no environment for a moment: only the second empty look is believed. */
const EMPTY_LOOKS = 2;

export function makeMarker(dataDir: string): string {
  return [scopeOf(dataDir), process.pid, ownStartTime(), crypto.randomUUID()].join(".");
}

export async function killMarked(marker: string): Promise<void> {
  await killUntilNone(async (value) => value === marker);
}

/**
 * Kills what earlier workers of this data directory left running when they were killed themselves; how many processes
 * that were. To be called when a worker starts, before it claims its first run. Workers that live are left alone.
 */
export async function sweepOrphans(dataDir: string): Promise<number> {
  return await killUntilNone((marker) => isOrphan(marker, dataDir));
}

/** Whether what is marked so belonged to a worker of this data directory that is no more. */
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
