/** The wall clock and its timers. Whether a lease is over is judged by the database's clock, not by this one. */
export interface Clock {
  now(): Date;
  /** How much time has gone by since some moment of this process. The wall clock may jump, this goes on evenly. */
  elapsedMs(): number;
  /** Calls `tick` every `ms` until stopped. */
  every(ms: number, tick: () => void): Stop;
  /** Calls `ring` once after `ms` unless stopped before. */
  after(ms: number, ring: () => void): Stop;
}

export type Stop = () => void;

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
