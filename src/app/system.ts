import { createHash } from "node:crypto";
import type { Clock } from "../core/basics/clock.ts";
import type { Digest } from "../core/basics/crypto.ts";

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

export const sha256: Digest = (content) => createHash("sha256").update(content).digest("hex");

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file.",
  EADDRINUSE: "the port is taken. Set ERRAND_PORT to another one.",
  EACCES: "this user may not do that.",
  EADDRNOTAVAIL: "this machine has no such address. Check ERRAND_HOST.",
};

/** The reason of a failed system call, for the person who starts the service. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? String(error);
}
