import type { News, Unsubscribe } from "../core/ports/news.ts";
import { Listeners } from "./listeners.ts";

/** News within one process. */
export class MemoryNews implements News {
  readonly #listeners = new Listeners();
  readonly #waiting = new Set<string>();

  tell(topics: readonly string[]): void {
    if (this.#waiting.size === 0) queueMicrotask(() => this.#flush());
    for (const topic of topics) this.#waiting.add(topic);
  }

  on(topic: string, listener: () => void): Unsubscribe {
    return this.#listeners.add(topic, listener);
  }

  #flush(): void {
    const topics = [...this.#waiting];
    this.#waiting.clear();
    this.#listeners.call(topics);
  }
}
