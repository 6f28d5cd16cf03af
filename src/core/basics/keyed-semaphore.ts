/** Limits the concurrent calls for each key. Further calls wait in order. */
export class KeyedSemaphore {
  readonly #width: number;
  readonly #inside = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(width: number) {
    this.#width = width;
  }

  async pass<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(key);
    try {
      return await work();
    } finally {
      this.#leave(key);
    }
  }

  async #enter(key: string): Promise<void> {
    const inside = this.#inside.get(key) ?? 0;
    if (inside < this.#width) {
      this.#inside.set(key, inside + 1);
      return;
    }
    await new Promise<void>((resolve) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
    });
  }

  /** Passes its place to the next waiting call, so that no other call takes it first. */
  #leave(key: string): void {
    const [next, ...rest] = this.#waiting.get(key) ?? [];
    if (rest.length > 0) {
      this.#waiting.set(key, rest);
    } else {
      this.#waiting.delete(key);
    }
    if (next !== undefined) {
      next();
      return;
    }
    const inside = (this.#inside.get(key) ?? 1) - 1;
    if (inside > 0) {
      this.#inside.set(key, inside);
    } else {
      this.#inside.delete(key);
    }
  }
}
