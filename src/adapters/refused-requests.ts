import { defined } from "../core/basics/defined.ts";
import type { Log } from "../core/basics/log.ts";

const PERIOD_MS = 60_000;

/**
 * Logs refused requests of one kind, at most one line a minute with their number. One line for each would let a
 * stranger fill the disk and take the processor time of the log.
 */
export class RefusedRequests {
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

  /** `requestId`: the request that the line names. `code`: why this one was refused, if the message does not say it. */
  add(requestId: string, code?: string): void {
    this.#count += 1;
    const nowMs = this.#elapsedMs();
    if (nowMs - this.#loggedAtMs < PERIOD_MS) {
      return;
    }
    this.#log.warn(this.#message, defined({ requestId, count: this.#count, code }));
    this.#count = 0;
    this.#loggedAtMs = nowMs;
  }
}
