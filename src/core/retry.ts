import { AppError } from "./errors.ts";
import { type Clock, type Stop, sleep } from "./ports/clock.ts";

export interface RetryPolicy {
  /** The pause before the next try, or undefined to give up. `tries` counts the tries that have failed. */
  readonly pauseMs: (error: unknown, tries: number) => number | undefined;
  /** No try begins later than this after the first failure. Default: no limit. */
  readonly limitMs?: number;
}

const UNAVAILABLE_PAUSE_MS = 500;

/** For the database: the limit is longer than a restart or a fail-over takes. */
export const WHILE_UNAVAILABLE: RetryPolicy = {
  limitMs: 60_000,
  pauseMs: (error) => {
    const isUnavailable = error instanceof AppError && error.code === "resource_unavailable";
    return isUnavailable ? UNAVAILABLE_PAUSE_MS : undefined;
  },
};

const TRIES_MAX = 3;
const FIRST_PAUSE_MS = 2_000;
/** The result of the run waits for this work. */
const PAUSE_MAX_MS = 20_000;

/** For other systems that refuse for now: after the time they name, else after a pause that doubles. */
export const THREE_TRIES: RetryPolicy = {
  pauseMs: (error, tries) => {
    if (!(error instanceof AppError) || !error.retryable || tries >= TRIES_MAX) {
      return undefined;
    }
    const pauseMs = error.options.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1);
    return pauseMs > PAUSE_MAX_MS ? undefined : pauseMs;
  },
};

/** Repeats `work` as `policy` says, and throws the last error when it gives up. `work` must be repeatable. */
export async function retry<T>(clock: Clock, policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  let stop: Stop | undefined;
  let isOver = false;
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const pauseMs = policy.pauseMs(error, tries);
        if (pauseMs === undefined || isOver) {
          throw error;
        }
        // A timer, because a wall clock that jumps must not end the tries.
        if (policy.limitMs !== undefined) {
          stop ??= clock.after(policy.limitMs, () => {
            isOver = true;
          });
        }
        await sleep(clock, pauseMs);
      }
    }
  } finally {
    stop?.();
  }
}
