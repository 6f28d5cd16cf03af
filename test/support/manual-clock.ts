import type { Clock, Stop } from "../../src/core/basics/clock.ts";

interface Timer {
  readonly callback: () => void;
  readonly everyMs?: number;
  readonly isPoll?: boolean;
  dueAt: number;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  #startMs: number;
  #timers: readonly Timer[] = [];

  constructor(start = new Date("2026-03-01T12:00:00.000Z")) {
    this.#startMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Sets the wall clock forward or back without letting time pass. */
  jump(ms: number): void {
    this.#startMs += ms;
  }

  every(ms: number, callback: () => void): Stop {
    return this.#add({ callback, dueAt: this.#elapsedMs + ms, everyMs: ms });
  }

  after(ms: number, callback: () => void): Stop {
    return this.#add({ callback, dueAt: this.#elapsedMs + ms });
  }

  /** This clock for a loop that polls as long as its process lives. It polls at most once in each `advance`, at the end. */
  forPolling(): Pick<Clock, "after"> {
    return { after: (ms, callback) => this.#add({ callback, dueAt: this.#elapsedMs + ms, isPoll: true }) };
  }

  /** The number of timers that have not fired, without those of polls. A test should leave none behind. */
  get pending(): number {
    return this.#timers.filter(({ isPoll }) => isPoll !== true).length;
  }

  /** Moves the time forward and runs everything that the timers in between trigger. */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsedMs + ms;
    await quiet();
    for (let timer = this.#next(target); timer !== undefined; timer = this.#next(target)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueAt);
      if (timer.everyMs === undefined) {
        this.#remove(timer);
      } else {
        timer.dueAt += timer.everyMs;
      }
      timer.callback();
      await quiet();
    }
    this.#elapsedMs = target;
    for (const poll of this.#timers.filter(({ dueAt, isPoll }) => isPoll === true && dueAt <= target)) {
      this.#remove(poll);
      poll.callback();
      await quiet();
    }
  }

  #next(until: number): Timer | undefined {
    const due = this.#timers.filter(({ dueAt, isPoll }) => isPoll !== true && dueAt <= until);
    return due.sort((a, b) => a.dueAt - b.dueAt)[0];
  }

  #add(timer: Timer): Stop {
    this.#timers = [...this.#timers, timer];
    return () => this.#remove(timer);
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }
}

/** Resolves when everything has happened that needs only promises. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
