/** The state of a caller's bucket after a request. */
export interface Bucket {
  readonly isAllowed: boolean;
  /** Requests that would pass now. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again or, for a refused request, until the next one passes. */
  readonly resetMs: number;
}

interface Options {
  readonly max: number;
  readonly windowMs: number;
  readonly elapsedMs: () => number;
}

const CALLERS_MAX = 10_000;
/** Sums of fractions of milliseconds are not exact. Without it, the last request of a bucket might be refused. */
const ROUNDING_MS = 0.001;

/**
 * One bucket of `max` requests for each caller. It refills continuously, one request each `windowMs / max`
 * milliseconds (the generic cell rate algorithm): the whole state is the time at which the bucket is full again. A
 * refused request takes nothing, so a caller that keeps asking is not locked out.
 */
export class RequestBuckets {
  readonly #options: Options;
  readonly #fullAtMs = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes one request from the bucket if there is one. */
  take(caller: string): Bucket {
    const { elapsedMs, max, windowMs } = this.#options;
    const now = elapsedMs();
    const costMs = windowMs / max;
    const fullInMs = Math.max(0, (this.#fullAtMs.get(caller) ?? now) - now) + costMs;
    const leftMs = windowMs - fullInMs + ROUNDING_MS;
    if (leftMs < 0) {
      return { isAllowed: false, remaining: 0, resetMs: Math.ceil(-leftMs) };
    }
    this.#keep(caller, now + fullInMs);
    return { isAllowed: true, remaining: Math.floor(leftMs / costMs), resetMs: Math.ceil(fullInMs) };
  }

  /** Keeps the most recent callers. The bucket of a caller that was dropped is full, as at the first request. */
  #keep(caller: string, fullAtMs: number): void {
    this.#fullAtMs.delete(caller);
    this.#fullAtMs.set(caller, fullAtMs);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size > CALLERS_MAX && oldest !== undefined) {
      this.#fullAtMs.delete(oldest);
    }
  }
}
