import { AppError } from "../errors.ts";
import { type Clock, sleep } from "../ports/clock.ts";

const TRIES = 3;
const PAUSE_MS = 2_000;
/** Somebody waits for what comes after it. */
const PAUSE_MAX_MS = 20_000;

/** Tries again what another system refuses for now, after the time it names; work that is worth no longer waiting. */
export async function fewTries<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || !error.retryable || tries === TRIES) throw error;
      const pauseMs = error.options.retryAfterMs ?? PAUSE_MS * 2 ** (tries - 1);
      if (pauseMs > PAUSE_MAX_MS) throw error;
      await sleep(clock, pauseMs);
    }
  }
}
