import { MEBIBYTE } from "../basics/byte-units.ts";
import type { Clock } from "../basics/clock.ts";
import { type Check, ok } from "../ports/check.ts";

/** What the database stores for runs. */
export const STORED_KINDS = [
  "checkpoints",
  "checkpoints_of_ended_runs",
  "inputs",
  "artifacts",
  "changes",
  "events",
] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** Bytes of each kind. */
export type StoredBytes = Readonly<Record<StoredKind, number>>;

/** A measurement takes a second for 100,000 runs, and Prometheus reads the figures every few seconds. */
const KEPT_MS = 60_000;

/** Returns what was measured in the last minute. Concurrent callers share one measurement. A failure is not kept. */
export function cachedStoredBytes(
  measure: () => Promise<StoredBytes>,
  clock: Pick<Clock, "now">,
): () => Promise<StoredBytes> {
  let last: { readonly stored: Promise<StoredBytes>; readonly untilMs: number } | undefined;
  return () => {
    const nowMs = clock.now().getTime();
    if (last === undefined || last.untilMs <= nowMs) {
      const measured = { stored: measure(), untilMs: nowMs + KEPT_MS };
      measured.stored.catch(() => {
        last = last === measured ? undefined : last;
      });
      last = measured;
    }
    return last.stored;
  };
}

/** How much the database stores for runs. It has no limit, so this finds no problem. */
export function storedBytesCheck(measure: () => Promise<StoredBytes>): Check {
  return {
    name: "stored_files",
    async run() {
      const stored = await measure();
      const figures = STORED_KINDS.map(
        (kind) => `${kind.replaceAll("_", " ")} ${mebibytes(stored[kind])} MiB`,
      );
      return ok(`In the database: ${figures.join(", ")}.`);
    },
  };
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1);
}
