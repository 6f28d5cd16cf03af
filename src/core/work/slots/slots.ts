import type { Slot } from "../../ports/queue.ts";
import type { AttemptAbort } from "../lease/attempt-abort.ts";
import type { PausableTimer } from "../lease/pausable-timer.ts";

/**
 * The slots of one process for one kind of job. A free slot goes first to a handler that gave its slot back and asks for
 * one again, in the order in which they asked, and only then to a new job.
 */
export class Slots {
  readonly #freed: () => void;
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** `freed` is called when a handler has left a slot that a new job can have. */
  constructor(count: number, freed: () => void) {
    this.#free = count;
    this.#freed = freed;
  }

  /** How many new jobs can have a slot. */
  get free(): number {
    return this.#free;
  }

  /** Takes slots for new jobs, at most those that are free. */
  take(count: number): void {
    this.#free -= count;
  }

  /** Gives back slots that were taken for new jobs, of which there were fewer. */
  returnUnused(count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.#put();
    }
  }

  /** The slot of a new job, which was taken before. */
  slotOfJob(): JobSlot {
    const left = () => {
      if (this.#put()) {
        this.#freed();
      }
    };
    return new JobSlot(left, (taken) => this.#request(taken));
  }

  /** True if no handler waits for a slot. */
  #put(): boolean {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return true;
    }
    this.#waiting.delete(next);
    next();
    return false;
  }

  #request(taken: () => void): () => void {
    if (this.#free > 0) {
      this.#free -= 1;
      taken();
    } else {
      this.#waiting.add(taken);
    }
    return () => void this.#waiting.delete(taken);
  }
}

/** The slot of one job. */
export class JobSlot implements Slot {
  readonly #left: () => void;
  /** Calls `taken` once with a slot. What it returns takes the request back. */
  readonly #request: (taken: () => void) => () => void;
  readonly #ended = new AbortController();
  #isHeld = true;
  #reacquiring: Promise<void> | undefined;

  constructor(left: () => void, request: (taken: () => void) => () => void) {
    this.#left = left;
    this.#request = request;
  }

  release(): void {
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#left();
    }
  }

  /** The handler has returned. */
  end(): void {
    this.#ended.abort();
    this.release();
  }

  async reacquire(signal: AbortSignal): Promise<void> {
    const over = AbortSignal.any([signal, this.#ended.signal]);
    if (this.#isHeld || over.aborted) {
      return;
    }
    this.#reacquiring ??= this.#take(over).finally(() => {
      this.#reacquiring = undefined;
    });
    await this.#reacquiring;
  }

  #take(over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.#request(() => {
        this.#isHeld = true;
        resolve();
      });
      over.addEventListener(
        "abort",
        () => {
          takeBack();
          resolve();
        },
        { once: true },
      );
    });
  }
}

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
