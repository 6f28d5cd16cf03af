import type { WorkSettings } from "./attempt-parts.ts";
import type { Breaking, RunFailure } from "./breaking.ts";
import { storedLength, type Told } from "./event-recorder.ts";

const MEBIBYTE = 2 ** 20;

/** How much an attempt may write to its run's log. What does not fit is not stored, nor what comes behind it. */
export class LogLimit {
  readonly #logMib: number;
  readonly #breaking: Breaking;
  #left: number;

  constructor({ logMib }: Pick<WorkSettings, "logMib">, breaking: Breaking) {
    this.#logMib = logMib;
    this.#breaking = breaking;
    this.#left = logMib * MEBIBYTE;
  }

  /** What may be stored. The work is broken off where that is not all. */
  fitting(told: readonly Told[]): readonly Told[] {
    const fitting = told.filter((each) => {
      this.#left -= storedLength(each);
      return this.#left >= 0;
    });
    if (fitting.length < told.length) this.#breaking.break({ kind: "failed", failure: this.#failure() });
    return fitting;
  }

  #failure(): RunFailure {
    const message = `The run's log is full: one attempt may write ${this.#logMib} MiB to it.`;
    return { message, errorCode: "budget_exceeded", retryable: false };
  }
}
