import type { Clock } from "../../core/basics/clock.ts";
import { StatusError } from "../http/errors.ts";

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;

interface Failures {
  readonly since: number;
  readonly count: number;
}

/** Limits failed sign-ins per address, within this process. */
export class SignInLimiter {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Counts the sign-in as failed until it has succeeded, because many may run concurrently. */
  begun(address: string): void {
    const { since, count } = this.#recent(address) ?? { since: this.#now(), count: 0 };
    if (count >= this.#max) {
      throw new StatusError(429, "resource_unavailable", "Too many sign-ins have failed from here.", {
        retryAfterMs: since + WINDOW_MS - this.#now(),
      });
    }
    this.#failures.delete(address);
    this.#failures.set(address, { since, count: count + 1 });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > ADDRESSES_MAX && oldest !== undefined) {
      this.#failures.delete(oldest);
    }
  }

  succeeded(address: string): void {
    const failures = this.#recent(address);
    if (failures !== undefined) {
      this.#failures.set(address, { ...failures, count: failures.count - 1 });
    }
  }

  #recent(address: string): Failures | undefined {
    const failures = this.#failures.get(address);
    return failures !== undefined && failures.since + WINDOW_MS > this.#now() ? failures : undefined;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
