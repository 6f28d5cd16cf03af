import { MEBIBYTE } from "../../basics/byte-units.ts";
import type { AttemptAbort, RunFailure } from "../lease/attempt-abort.ts";
import type { RunSettings } from "../lease/attempt-deps.ts";
import { type RecordedUpdate, storedLength } from "../log/event-recorder.ts";

/**
 * Limits what an attempt may write to the log of its run. What exceeds the limit is not stored, nor anything after
 * it.
 */
export class LogLimit {
  readonly #logMib: number;
  readonly #abort: AttemptAbort;
  #remaining: number;

  constructor({ logMib }: Pick<RunSettings, "logMib">, abort: AttemptAbort) {
    this.#logMib = logMib;
    this.#abort = abort;
    this.#remaining = logMib * MEBIBYTE;
  }

  /** Returns the updates that may be stored, and aborts the attempt if some may not. */
  acceptable(updates: readonly RecordedUpdate[]): readonly RecordedUpdate[] {
    const acceptable = updates.filter((update) => {
      this.#remaining -= storedLength(update);
      return this.#remaining >= 0;
    });
    if (acceptable.length < updates.length) {
      this.#abort.abort({ kind: "failed", failure: this.#failure() });
    }
    return acceptable;
  }

  #failure(): RunFailure {
    const message = `The run's log is full: one attempt may write ${this.#logMib} MiB to it.`;
    return { message, errorCode: "budget_exceeded", retryable: false };
  }
}
