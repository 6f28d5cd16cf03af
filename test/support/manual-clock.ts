import type { Clock, Stop } from "../../src/core/ports/clock.ts";

interface Timer {
  readonly ring: () => void;
  readonly everyMs?: number;
  dueAt: number;
}

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #timers: readonly Timer[] = [];

  constructor(start = new Date("2026-03-01T12:00:00.000Z")) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  every(ms: number, ring: () => void): Stop {
    return this.#add({ ring, dueAt: this.#now + ms, everyMs: ms });
  }

  after(ms: number, ring: () => void): Stop {
    return this.#add({ ring, dueAt: this.#now + ms });
  }

  /** Timers that have not rung: what a test leaves behind. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Moves the time on, and lets everything happen that the timers on the way set off. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await quiet();
    for (let timer = this.#next(target); timer !== undefined; timer = this.#next(target)) {
      this.#now = Math.max(this.#now, timer.dueAt);
      if (timer.everyMs === undefined) this.#remove(timer);
      else timer.dueAt += timer.everyMs;
      timer.ring();
      await quiet();
    }
    this.#now = target;
  }

  #next(until: number): Timer | undefined {
    const due = this.#timers.filter(({ dueAt }) => dueAt <= until);
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

/** Resolves when everything that needs no more than promises has happened. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
