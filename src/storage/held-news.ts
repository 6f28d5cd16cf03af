import type { News, Unsubscribe } from "../core/ports/news.ts";

/** News that waits for the end of a transaction. */
export class HeldNews implements News {
  readonly #news: News;
  readonly #topics = new Set<string>();

  constructor(news: News) {
    this.#news = news;
  }

  tell(topics: readonly string[]): void {
    for (const topic of topics) this.#topics.add(topic);
  }

  on(topic: string, listener: () => void): Unsubscribe {
    return this.#news.on(topic, listener);
  }

  release(): void {
    if (this.#topics.size > 0) this.#news.tell([...this.#topics]);
  }
}
