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
