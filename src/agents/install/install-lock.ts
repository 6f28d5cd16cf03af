import { open, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

export interface LockTiming {
  /** The interval at which the holder shows that it is alive. */
  readonly heartbeatMs: number;
  /** A holder that has not done so for this long is dead. */
  readonly staleMs: number;
  /** The interval at which a waiting process checks again. */
  readonly lookMs: number;
}

const TIMING: LockTiming = { heartbeatMs: 2_000, staleMs: 20_000, lookMs: 250 };

/**
 * Runs the work while no other process of this data directory does, or not at all when `isDone` becomes true. After a
 * killed holder the next process continues. If two processes ever hold the lock, both run the work, which must allow
 * that.
 */
export async function whileLocked(
  path: string,
  isDone: () => Promise<boolean>,
  work: () => Promise<void>,
  timing: LockTiming = TIMING,
): Promise<void> {
  if (!(await taken(path, isDone, timing))) {
    return;
  }
  const beat = setInterval(() => void touch(path), timing.heartbeatMs);
  try {
    if (!(await isDone())) {
      await work();
    }
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

/** False: another process did the work meanwhile. */
async function taken(path: string, isDone: () => Promise<boolean>, timing: LockTiming): Promise<boolean> {
  // Compares changes of the file's time with our own clock, because the clock of the holder's machine may differ.
  let lastBeat = { beat: -1, at: performance.now() };
  while (!(await create(path))) {
    if (await isDone()) {
      return false;
    }
    const beat = await beatOf(path);
    if (beat !== lastBeat.beat) {
      lastBeat = { beat, at: performance.now() };
    } else if (performance.now() - lastBeat.at > timing.staleMs) {
      await rm(path, { force: true });
    }
    await pause(timing.lookMs);
  }
  return true;
}

async function create(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      return false;
    }
    throw error;
  }
}

async function beatOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    // The lock was just released.
    return -1;
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // Another process may have considered the lock stale and removed it. The work continues.
  await utimes(path, now, now).catch(() => undefined);
}
