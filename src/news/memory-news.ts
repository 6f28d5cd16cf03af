import type { News, Unsubscribe } from "../core/ports/news.ts";
import { Listeners } from "./listeners.ts";

/** News within one process. */
export class MemoryNews implements News {
  readonly #listeners = new Listeners();

  tell(topics: readonly string[]): void {
    queueMicrotask(() => this.#listeners.call(new Set(topics)));
  }

  on(topic: string, listener: () => void): Unsubscribe {
    return this.#listeners.add(topic, listener);
  }
}
