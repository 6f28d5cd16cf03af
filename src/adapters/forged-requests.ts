import type { Log } from "../core/ports/log.ts";

const PERIOD_MS = 60_000;

/**
 * Logs requests with a wrong signature, at most one line a minute with their number. One line for each would let a
 * stranger fill the disk and take the processor time of the log.
 */
export class ForgedRequests {
  readonly #log: Log;
  readonly #message: string;
  readonly #elapsedMs: () => number;
  #count = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log, message: string, elapsedMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#message = message;
    this.#elapsedMs = elapsedMs;
  }

  /** `requestId`: the request that the line names. */
  add(requestId: string): void {
    this.#count += 1;
    const nowMs = this.#elapsedMs();
    if (nowMs - this.#loggedAtMs < PERIOD_MS) {
      return;
    }
    this.#log.warn(this.#message, { requestId, count: this.#count });
    this.#count = 0;
    this.#loggedAtMs = nowMs;
  }
}
