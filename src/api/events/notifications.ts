/**
 * Returns a function that starts `work`, but never two runs of it at once. A call during a run causes one more run
 * afterwards, because the current run may have missed the change. `work` must not fail.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRequested = false;
  let isRunning = false;
  async function run(): Promise<void> {
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      await work();
    }
    isRunning = false;
  }
  return () => {
    isRequested = true;
    if (!isRunning) {
      void run();
    }
  };
}

/** A signal that is remembered until the next wait, so that it is not missed. */
export class ChangeSignal {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  /** Resolves at the next notification, at once if one has arrived since the last wait, and after `ms` at the latest. */
  async wait(ms: number): Promise<void> {
    if (!this.#isNotified) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#isNotified = false;
    this.#wake = undefined;
  }
}
