/** The wall clock and its timers. The database's clock decides whether a lease has expired, not this one. */
export interface Clock {
  now(): Date;
  /** Milliseconds since some moment of this process. Unlike the wall clock, it never jumps. */
  elapsedMs(): number;
  /** Calls `tick` every `ms` until stopped. */
  every(ms: number, tick: () => void): Stop;
  /** Calls `callback` once after `ms`, unless it is stopped before. */
  after(ms: number, callback: () => void): Stop;
}

export type Stop = () => void;

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
