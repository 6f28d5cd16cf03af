import { type Clock, sleep } from "./clock.ts";
import { AppError, StorageUnavailable } from "./errors.ts";

/** The tries so far. All of them have failed. */
export interface FailedTries {
  readonly count: number;
  /** The time since the first failure. */
  readonly elapsedMs: number;
}

export interface RetryPolicy {
  /** The pause before the next try, or undefined to give up. */
  readonly pauseMs: (error: unknown, tries: FailedTries) => number | undefined;
}

const UNAVAILABLE_PAUSE_MS = 500;
/** Longer than a restart or a fail-over of a database takes. */
const RESTART_MS = 60_000;
/** Long enough for a person to make room on a disk. */
const REPAIR_MS = 15 * 60_000;

/** For what a run in work needs. Nothing of the work is lost while the storage is repaired. */
export const WHILE_UNAVAILABLE: RetryPolicy = {
  pauseMs: (error, { elapsedMs }) => {
    const limitMs = error instanceof StorageUnavailable ? REPAIR_MS : RESTART_MS;
    return isUnavailable(error) && elapsedMs < limitMs ? UNAVAILABLE_PAUSE_MS : undefined;
  },
};

/** For the start of a process, which must say soon that it is not possible. */
export const AT_START: RetryPolicy = {
  pauseMs: (error, { elapsedMs }) =>
    isUnavailable(error) && elapsedMs < RESTART_MS ? UNAVAILABLE_PAUSE_MS : undefined,
};

const TRIES_MAX = 3;
const FIRST_PAUSE_MS = 2_000;
/** The result of the run waits for this work. */
const PAUSE_MAX_MS = 20_000;

/** For other systems that refuse for now: after the time they name, else after a pause that doubles. */
export const THREE_TRIES: RetryPolicy = {
  pauseMs: (error, { count }) => {
    if (!(error instanceof AppError) || !error.retryable || count >= TRIES_MAX) {
      return undefined;
    }
    const pauseMs = error.options.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (count - 1);
    return pauseMs > PAUSE_MAX_MS ? undefined : pauseMs;
  },
};

/** Longer than the minute for which a host refuses those who write much. */
const BUSY_MS = 2 * 60_000;
const BUSY_PAUSE_MIN_MS = 1_000;

/**
 * Like `THREE_TRIES`, and as often as the other system names a time. For work that would be lost without. The answer loses
 * no time, because the other system would refuse it as well.
 */
export const UNTIL_FREE: RetryPolicy = {
  pauseMs: (error, tries) => {
    const waitMs = error instanceof AppError && error.retryable ? error.options.retryAfterMs : undefined;
    return waitMs !== undefined && tries.elapsedMs + waitMs <= BUSY_MS
      ? Math.max(waitMs, BUSY_PAUSE_MIN_MS)
      : THREE_TRIES.pauseMs(error, tries);
  },
};

/** Repeats `work` as `policy` says, and throws the last error when it gives up. `work` must be repeatable. */
export async function retry<T>(clock: Clock, policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  let failedAtMs: number | undefined;
  for (let count = 1; ; count += 1) {
    try {
      return await work();
    } catch (error) {
      failedAtMs ??= clock.elapsedMs();
      const pauseMs = policy.pauseMs(error, { count, elapsedMs: clock.elapsedMs() - failedAtMs });
      if (pauseMs === undefined) {
        throw error;
      }
      await sleep(clock, pauseMs);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === "resource_unavailable";
}
