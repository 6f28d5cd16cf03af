import { AppError } from "../../../core/basics/errors.ts";

const MINUTE_MS = 60_000;
/** `src/adapters/github/pace.ts` leaves 200 of the 900 points of a minute, and each of these calls takes five. */
const WRITES_MAX = 40;

/**
 * Counts the calls of an installation that make git's objects. They are no content in the sense of GitHub's limits, because
 * they notify no person.
 */
export class GitWrites {
  readonly #times = new Map<string, readonly number[]>();
  readonly #now: () => number;

  /** `now` returns milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws if there were too many in the last minute, with the time until the next one. */
  take(installation: string): void {
    const now = this.#now();
    const times = (this.#times.get(installation) ?? []).filter((at) => at > now - MINUTE_MS);
    const [oldest] = times;
    if (oldest !== undefined && times.length >= WRITES_MAX) {
      const words = "Many commits are made at GitHub now.";
      throw new AppError("resource_unavailable", words, { retryAfterMs: oldest + MINUTE_MS - now });
    }
    this.#times.set(installation, [...times, now]);
  }
}
