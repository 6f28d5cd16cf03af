import { IMMEDIATE_CHANNELS, type PubSub, type Unsubscribe } from "../../../src/core/ports/pubsub.ts";
import { Listeners } from "../../../src/storage/postgres-pubsub.ts";

/** Publish and subscribe within one process. */
export class InMemoryPubSub implements PubSub {
  readonly isListening = true;
  readonly #listeners = new Listeners();
  readonly #waiting = new Set<string>();

  publish(channels: readonly string[]): void {
    this.#listeners.call(channels.filter((channel) => IMMEDIATE_CHANNELS.has(channel)));
    if (this.#waiting.size === 0) {
      queueMicrotask(() => this.#flush());
    }
    for (const channel of channels) {
      this.#waiting.add(channel);
    }
  }

  subscribe(channel: string, listener: () => void): Unsubscribe {
    return this.#listeners.add(channel, listener);
  }

  #flush(): void {
    const channels = [...this.#waiting];
    this.#waiting.clear();
    this.#listeners.call(channels);
  }
}
