import type { Clock, Stop } from "../../basics/clock.ts";

/** The longest delay of a timer, about 24 days. A longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Fires once, after it has been running for the given time. Pauses do not count. */
export class PausableTimer {
  readonly #clock: Clock;
  readonly #callback: () => void;
  #leftMs: number;
  #running: { readonly stop: Stop; readonly since: number } | undefined;

  constructor(clock: Clock, ms: number, callback: () => void) {
    this.#clock = clock;
    this.#leftMs = Math.min(ms, TIMER_MAX_MS);
    this.#callback = callback;
  }

  /** The remaining time while the timer does not run. */
  get leftMs(): number {
    return this.#leftMs;
  }

  run(): void {
    if (this.#running !== undefined) {
      return;
    }
    const stop = this.#clock.after(this.#leftMs, this.#callback);
    this.#running = { stop, since: this.#clock.elapsedMs() };
  }

  pause(): void {
    if (this.#running === undefined) {
      return;
    }
    const { since, stop } = this.#running;
    stop();
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.elapsedMs() - since));
    this.#running = undefined;
  }
}
