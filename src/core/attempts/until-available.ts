import { AppError } from "../errors.ts";
import { type Clock, type Stop, sleep } from "../ports/clock.ts";

/** How long an attempt goes on trying while the database is away: longer than a restart or a fail-over takes. */
const RETRY_FOR_MS = 60_000;
const RETRY_PAUSE_MS = 500;

/** Repeats `work` as long as what it needs is only away for now. It must be repeatable. */
export async function untilAvailable<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  // By a timer, not by the time of day: a wall clock that jumps must not give a run up.
  let stop: Stop | undefined;
  let isOver = false;
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const passes = error instanceof AppError && error.code === "resource_unavailable";
        if (!passes || isOver) throw error;
        stop ??= clock.after(RETRY_FOR_MS, () => {
          isOver = true;
        });
        await sleep(clock, RETRY_PAUSE_MS);
      }
    }
  } finally {
    stop?.();
  }
}
