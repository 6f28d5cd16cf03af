import type { Clock } from "../core/basics/clock.ts";

export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  },
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
