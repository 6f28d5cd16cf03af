import type { Clock } from "../../core/basics/clock.ts";

/**
 * What was revoked or ended is forgotten at once by a notification. If that is lost, a recent lookup is used for this
 * time, and an open stream lives until its next check of the caller. Nothing is written meanwhile: each write looks at
 * the key and the sign-in of its caller.
 */
export const LOOKUP_LIFETIME_MS = 2_500;
const ENTRIES_MAX = 10_000;

interface CacheEntry<Value> {
  /** A promise, so that concurrent requests share one query. */
  readonly value: Promise<Value | undefined>;
  readonly untilMs: number;
}

/** Recent lookups by hash. The cache saves a database query per request. */
export class LookupCache<Value> {
  readonly #query: (hash: string) => Promise<Value | undefined>;
  readonly #clock: Clock;
  readonly #entries = new Map<string, CacheEntry<Value>>();

  constructor(clock: Clock, query: (hash: string) => Promise<Value | undefined>) {
    this.#clock = clock;
    this.#query = query;
  }

  async find(hash: string): Promise<Value | undefined> {
    const nowMs = this.#clock.now().getTime();
    const entry = this.#entries.get(hash);
    return entry !== undefined && entry.untilMs > nowMs ? entry.value : this.#look(hash, nowMs);
  }

  clear(): void {
    this.#entries.clear();
  }

  async #look(hash: string, nowMs: number): Promise<Value | undefined> {
    const value = this.#query(hash);
    const entry = { value, untilMs: nowMs + LOOKUP_LIFETIME_MS };
    this.#store(hash, entry);
    const isKnown = (await value.catch(() => undefined)) !== undefined;
    // Unknown hashes are not cached, because there can be any number of them. The entry may already be a newer one.
    if (!isKnown && this.#entries.get(hash) === entry) {
      this.#entries.delete(hash);
    }
    return value;
  }

  #store(hash: string, entry: CacheEntry<Value>): void {
    this.#entries.delete(hash);
    this.#entries.set(hash, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > ENTRIES_MAX && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }
}
