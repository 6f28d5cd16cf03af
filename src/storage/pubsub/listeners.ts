import type { Unsubscribe } from "../../core/ports/pubsub.ts";

/** The subscribers of each channel in this process. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<() => void>>();

  add(channel: string, listener: () => void): Unsubscribe {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byChannel.get(channel) === listeners) {
        this.#byChannel.delete(channel);
      }
    };
  }

  call(channels: Iterable<string>): void {
    for (const channel of channels) {
      for (const listener of this.#byChannel.get(channel) ?? []) {
        listener();
      }
    }
  }

  callAll(): void {
    this.call([...this.#byChannel.keys()]);
  }
}
