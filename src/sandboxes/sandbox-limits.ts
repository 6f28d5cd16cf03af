import { constants } from "node:os";
import type { SandboxExit } from "./sandbox.ts";

/** What one command of a sandbox may use, together with all that it starts. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  /** How many processors' worth of time; may be a fraction. */
  readonly cpus: number;
  /** Threads count as well. */
  readonly processes: number;
  /** Of one file. */
  readonly fileBytes: number;
}

const MEBIBYTE = 1024 ** 2;

export const DEFAULT_SANDBOX_LIMITS: SandboxLimits = {
  memoryBytes: 4096 * MEBIBYTE,
  cpus: 2,
  processes: 1024,
  fileBytes: 4096 * MEBIBYTE,
};

/** Of `/tmp`, and of `/dev/shm`, in a sandbox that has its own. */
export const TMP_BYTES = 1024 * MEBIBYTE;

/** How a shell and most others tell that a signal ended something. */
const SIGNALLED = 128;

/** The exit with the limit that caused it, if one did. `memoryKills`: of processes, because the memory was used up. */
export function withLimitNamed(
  exit: SandboxExit,
  { fileBytes, memoryBytes }: SandboxLimits,
  memoryKills: number,
): SandboxExit {
  if (exit.code === 0) return exit;
  if (memoryKills > 0) return { ...exit, reason: tell("more memory", "MEMORY", memoryBytes) };
  const hasTooLargeFile = exit.signal === "SIGXFSZ" || exit.code === SIGNALLED + constants.signals.SIGXFSZ;
  return hasTooLargeFile ? { ...exit, reason: tell("a larger file", "FILE", fileBytes) } : exit;
}

function tell(what: string, name: string, bytes: number): string {
  const limit = `${Math.floor(bytes / MEBIBYTE)} MiB`;
  return `It wanted ${what} than it may have: ${limit} (ERRAND_SANDBOX_${name}_MIB).`;
}
