import { constants } from "node:os";
import { MEBIBYTE } from "../core/basics/byte-units.ts";
import type { SandboxExit } from "./sandbox.ts";

/** What one command of a sandbox may use, together with all processes that it starts. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  /** The number of processors; may be a fraction. */
  readonly cpus: number;
  /** Threads count as well. */
  readonly processes: number;
  /** The largest size of one file. */
  readonly fileBytes: number;
}

export const DEFAULT_SANDBOX_LIMITS: SandboxLimits = {
  memoryBytes: 4096 * MEBIBYTE,
  cpus: 2,
  processes: 1024,
  fileBytes: 4096 * MEBIBYTE,
};

/** The size of `/tmp` and of `/dev/shm` in a sandbox that has its own. */
export const TMP_BYTES = 1024 * MEBIBYTE;

/** Shells and most programs report the end by a signal this way. */
const SIGNALLED = 128;

/**
 * Adds the limit that caused the exit, if one did. `memoryKills`: the number of processes killed because of the
 * memory limit.
 */
export function withLimitNamed(
  exit: SandboxExit,
  { fileBytes, memoryBytes }: SandboxLimits,
  memoryKills: number,
): SandboxExit {
  if (exit.code === 0) {
    return exit;
  }
  if (memoryKills > 0) {
    return { ...exit, reason: limitText("more memory", "MEMORY", memoryBytes) };
  }
  const hasTooLargeFile = exit.signal === "SIGXFSZ" || exit.code === SIGNALLED + constants.signals.SIGXFSZ;
  return hasTooLargeFile ? { ...exit, reason: limitText("a larger file", "FILE", fileBytes) } : exit;
}

function limitText(what: string, name: string, bytes: number): string {
  const limit = `${Math.floor(bytes / MEBIBYTE)} MiB`;
  return `It wanted ${what} than it may have: ${limit} (ERRAND_SANDBOX_${name}_MIB).`;
}
