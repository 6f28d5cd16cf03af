import type { PubSub, Unsubscribe } from "../core/ports/pubsub.ts";

/** News that waits for the end of a transaction. */
export class PendingNotifications implements PubSub {
  readonly #pubsub: PubSub;
  readonly #topics = new Set<string>();

  constructor(pubsub: PubSub) {
    this.#pubsub = pubsub;
  }

  publish(channels: readonly string[]): void {
    for (const channel of channels) this.#topics.add(channel);
  }

  subscribe(channel: string, listener: () => void): Unsubscribe {
    return this.#pubsub.subscribe(channel, listener);
  }

  release(): void {
    if (this.#topics.size > 0) this.#pubsub.publish([...this.#topics]);
  }
}
