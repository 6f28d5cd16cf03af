import type { Slot } from "../../ports/queue.ts";
import type { AttemptAbort } from "./attempt-abort.ts";
import type { PausableTimer } from "./pausable-timer.ts";

/**
 * The worker's slot of one attempt. The attempt gives it back while it waits for something that needs no worker, and takes
 * one again before it continues. The time between the two does not count in the time limit of the attempt.
 */
export class AttemptSlot {
  readonly #slot: Slot;
  readonly #abort: AttemptAbort;
  readonly #time: PausableTimer;

  constructor(slot: Slot, abort: AttemptAbort, time: PausableTimer) {
    this.#slot = slot;
    this.#abort = abort;
    this.#time = time;
  }

  release(): void {
    this.#time.pause();
    this.#slot.release();
  }

  /**
   * Waits for the next free slot, ahead of all queued runs. False: the attempt was aborted. It cleans up without a slot, and
   * must not continue. An attempt that has its slot does not wait.
   */
  async reacquire(): Promise<boolean> {
    await this.#slot.reacquire(this.#abort.signal);
    if (this.#abort.reason !== undefined) {
      return false;
    }
    this.#time.run();
    return true;
  }
}
