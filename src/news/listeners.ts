import type { Unsubscribe } from "../core/ports/news.ts";

/** Who listens to which topic in this process. */
export class Listeners {
  readonly #byTopic = new Map<string, Set<() => void>>();

  add(topic: string, listener: () => void): Unsubscribe {
    const listeners = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byTopic.get(topic) === listeners) this.#byTopic.delete(topic);
    };
  }

  call(topics: Iterable<string>): void {
    for (const topic of topics) {
      for (const listener of this.#byTopic.get(topic) ?? []) listener();
    }
  }

  callAll(): void {
    this.call([...this.#byTopic.keys()]);
  }
}
