import type { Clock, Stop } from "../ports/clock.ts";

/** What timers can count: some 24 days. A longer one would ring at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Rings once, after so much time in which it was running. */
export class PausableTimer {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #leftMs: number;
  #running: { readonly stop: Stop; readonly since: number } | undefined;

  constructor(clock: Clock, ms: number, ring: () => void) {
    this.#clock = clock;
    this.#leftMs = Math.min(ms, TIMER_MAX_MS);
    this.#ring = ring;
  }

  /** When it does not run. */
  get leftMs(): number {
    return this.#leftMs;
  }

  run(): void {
    if (this.#running !== undefined) return;
    const stop = this.#clock.after(this.#leftMs, this.#ring);
    this.#running = { stop, since: this.#clock.now().getTime() };
  }

  pause(): void {
    if (this.#running === undefined) return;
    const { since, stop } = this.#running;
    stop();
    // A wall clock that was put back must not give time, nor one that was put forward take more than there is.
    const passedMs = Math.max(0, this.#clock.now().getTime() - since);
    this.#leftMs = Math.max(0, this.#leftMs - passedMs);
    this.#running = undefined;
  }
}
