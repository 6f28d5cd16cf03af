import { open, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

export interface LockTiming {
  /** How often the holder shows that it lives. */
  readonly heartbeatMs: number;
  /** A holder that has not for so long is dead. */
  readonly staleMs: number;
  /** How often whoever waits looks again. */
  readonly lookMs: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, staleMs: 20_000, lookMs: 250 };

/**
 * Does the work while no other process of this data directory does it, or not at all when `isDone` says so in between.
 * A holder that was killed is followed by the next one. Should two ever hold it, both do the work: it must bear that.
 */
export async function whileLocked(
  path: string,
  isDone: () => Promise<boolean>,
  work: () => Promise<void>,
  timing: LockTiming = TIMING,
): Promise<void> {
  if (!(await taken(path, isDone, timing))) return;
  const beat = setInterval(() => void touch(path), timing.heartbeatMs);
  try {
    if (!(await isDone())) await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

/** False: the work was done by somebody else meanwhile. */
async function taken(path: string, isDone: () => Promise<boolean>, timing: LockTiming): Promise<boolean> {
  // By changes of the time that the file shows, and our own clock: that of the holder's machine may be another.
  let seen = { beat: -1, at: performance.now() };
  while (!(await create(path))) {
    if (await isDone()) return false;
    const beat = await beatOf(path);
    if (beat !== seen.beat) seen = { beat, at: performance.now() };
    else if (performance.now() - seen.at > timing.staleMs) await rm(path, { force: true });
    await pause(timing.lookMs);
  }
  return true;
}

async function create(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function beatOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    // It was given back just now.
    return -1;
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // Whoever took it for dead has removed it; the work goes on all the same.
  await utimes(path, now, now).catch(() => undefined);
}
