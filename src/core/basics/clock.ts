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

type Timer = Pick<Clock, "after">;

export interface TimeoutOptions<Late> {
  /** What the caller gets instead, or throws. Called at the moment of the timeout. Default: undefined. */
  readonly onTimeout?: () => Late;
  /** The core always passes its clock. Default: the timers of the process. */
  readonly clock?: Timer;
}

/** The timers of the process, for code without a clock. */
export const PROCESS_TIMER: Timer = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** The result of `work`, or of `onTimeout` when `work` takes longer than `timeoutMs`. Does not stop `work`. */
export async function withTimeout<Value, Late = undefined>(
  work: Promise<Value>,
  timeoutMs: number,
  { clock = PROCESS_TIMER, onTimeout }: TimeoutOptions<Late> = {},
): Promise<Value | Late> {
  let stop: Stop = () => undefined;
  const late = new Promise<Late>((resolve, reject) => {
    stop = clock.after(timeoutMs, () => {
      try {
        resolve(onTimeout?.() as Late);
      } catch (error) {
        reject(error);
      }
    });
  });
  return Promise.race([work, late]).finally(() => stop());
}
