/** A signal that is remembered until the next wait, so that it is not missed. */
export class ChangeSignal {
  #rung = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves when a ring arrives or has arrived since the last wait, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#rung = false;
    this.#wake = undefined;
  }
}
