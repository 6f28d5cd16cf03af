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

/** A measurement, and how old it is. */
export interface MeasuredBytes {
  readonly stored: StoredBytes;
  readonly ageMs: number;
}

const KEPT_MS = 60_000;
/** Measuring takes at most a thirtieth of the time: a second for 100,000 runs, and more for more. */
const KEPT_FOR_ITS_TIME = 30;

/**
 * Measures when it is asked, at most once a minute and more rarely if it takes long. Concurrent callers share one
 * measurement. A failure is not kept.
 */
export class StoredBytesMeter {
  readonly #measure: () => Promise<StoredBytes>;
  readonly #clock: Pick<Clock, "now">;
  #running: Promise<StoredBytes> | undefined;
  #last: { readonly stored: StoredBytes; readonly atMs: number; readonly untilMs: number } | undefined;

  constructor(measure: () => Promise<StoredBytes>, clock: Pick<Clock, "now">) {
    this.#measure = measure;
    this.#clock = clock;
  }

  /** The last measurement, at once. Undefined before the first one has ended. A new one begins if this is old. */
  get latest(): MeasuredBytes | undefined {
    this.measured().catch(() => undefined);
    return this.#last && { stored: this.#last.stored, ageMs: this.#nowMs - this.#last.atMs };
  }

  /** Waits for a new measurement if the last one is old. */
  async measured(): Promise<StoredBytes> {
    if (this.#last !== undefined && this.#nowMs < this.#last.untilMs) {
      return this.#last.stored;
    }
    this.#running ??= this.#begin();
    return this.#running;
  }

  async #begin(): Promise<StoredBytes> {
    const begunMs = this.#nowMs;
    try {
      const stored = await this.#measure();
      const atMs = this.#nowMs;
      const keptMs = Math.max(KEPT_MS, (atMs - begunMs) * KEPT_FOR_ITS_TIME);
      this.#last = { stored, atMs, untilMs: atMs + keptMs };
      return stored;
    } finally {
      this.#running = undefined;
    }
  }

  get #nowMs(): number {
    return this.#clock.now().getTime();
  }
}

/** How much the database stores for runs. It has no limit, so this finds no problem. */
export function storedBytesCheck(meter: Pick<StoredBytesMeter, "measured">): Check {
  return {
    name: "stored_files",
    async run() {
      const stored = await meter.measured();
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
