import { setTimeout as pause } from "node:timers/promises";

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_INTERVAL_MS = 20;

export interface WaitOptions {
  /** The condition, as it should read in the failure: "the card shows COMPLETED". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

type Missing = undefined | null | false | "" | 0;

/**
 * Resolves with the first truthy value of `check`. An error of `check` counts as not yet; the last error becomes the
 * cause of the failure. This is the only place where tests poll.
 */
export async function waitFor<T>(
  check: () => T | Missing | Promise<T | Missing>,
  { what, timeoutMs = DEFAULT_TIMEOUT_MS, everyMs = DEFAULT_INTERVAL_MS }: WaitOptions,
): Promise<Exclude<T, Missing>> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  do {
    try {
      const value = await check();
      if (value) {
        return value as Exclude<T, Missing>;
      }
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await pause(everyMs);
  } while (performance.now() < deadline);
  throw new Error(`Waited ${timeoutMs} ms in vain for ${what}${reason(lastError)}`, { cause: lastError });
}

function reason(error: unknown): string {
  if (error === undefined) {
    return "";
  }
  return `: ${error instanceof Error ? error.message : String(error)}`;
}
