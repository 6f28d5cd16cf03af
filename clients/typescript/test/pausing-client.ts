import { type ClientOptions, Errand } from "../src/index.ts";

/** The timeout of the client, by which its clock tells timeouts from pauses. */
export const TIMEOUT_MS = 12_345;

export interface PausingClientOptions extends ClientOptions {
  /** Whether timeouts fire. Default: false. */
  readonly timesOut?: boolean;
}

/** A client whose pauses take no time, and a record of them. */
export function pausingClient({ timesOut = false, ...options }: PausingClientOptions) {
  const pausesMs: number[] = [];
  const clock = {
    now: () => Date.parse("2026-03-01T09:00:00Z"),
    after(ms: number, callback: () => void) {
      if (ms === TIMEOUT_MS) {
        const timer = timesOut ? setTimeout(callback, 50) : undefined;
        return () => clearTimeout(timer);
      }
      pausesMs.push(ms);
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
  const client = new Errand({ timeoutMs: TIMEOUT_MS, clock, random: () => 0, ...options });
  return { client, pausesMs };
}
