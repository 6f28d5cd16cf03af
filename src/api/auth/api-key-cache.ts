import { isAlive, type KeyHolder } from "../../core/people/api-key.ts";
import type { KeyStore } from "../../core/people/people-stores.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../../core/ports/pubsub.ts";
import type { KeyHasher } from "./api-keys.ts";

export interface ApiKeyCacheDeps {
  readonly keys: KeyStore;
  readonly hashKey: KeyHasher;
  /** Compute the hash of a key under earlier secret keys of this server, the newest first. */
  readonly formerHashers: readonly KeyHasher[];
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

/**
 * A revoked key is forgotten at once by a notification. If that is lost, a recently used key reads for this time, and
 * an open stream until its next check of the caller. Nothing is written with a revoked key: each write looks at it.
 */
export const KEY_LIFETIME_MS = 2_500;
const ENTRIES_MAX = 10_000;
const TOUCH_MS = 60_000;

interface CacheEntry {
  /** A promise, so that concurrent requests share one query. */
  readonly holder: Promise<KeyHolder | undefined>;
  readonly untilMs: number;
}

/** The API keys in use. The cache saves a database query per request. */
export class ApiKeyCache {
  readonly #deps: ApiKeyCacheDeps;
  readonly #entries = new Map<string, CacheEntry>();
  readonly #touchedMs = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: Unsubscribe;

  constructor(deps: ApiKeyCacheDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.pubsub.subscribe(CHANNELS.keys, () => this.forget());
  }

  /** Returns the holder of the key if the key is valid now. */
  async findByKey(key: string): Promise<KeyHolder | undefined> {
    const { formerHashers, hashKey } = this.#deps;
    const hash = hashKey(key);
    const holder = await this.find(hash);
    if (holder !== undefined || formerHashers.length === 0) {
      return holder;
    }
    for (const hashFormerly of formerHashers) {
      if (await this.#rehash(hashFormerly(key), hash)) {
        break;
      }
    }
    // The second lookup is also needed if no key was rehashed: another request may just have done it.
    return this.find(hash);
  }

  /** Returns the holder of the key with this hash if the key is valid now. */
  async find(hash: string): Promise<KeyHolder | undefined> {
    const now = this.#deps.clock.now();
    const entry = this.#entries.get(hash);
    const isFresh = entry !== undefined && entry.untilMs > now.getTime();
    const holder = await (isFresh ? entry.holder : this.#query(hash, now.getTime()));
    if (holder === undefined || !isAlive(holder, now)) {
      return undefined;
    }
    this.#touch(holder, now);
    return holder;
  }

  /** Drops all entries, so that the next lookup reads the database. */
  forget(): void {
    this.#entries.clear();
    for (const listener of this.#listeners) {
      listener();
    }
  }

  /** Calls `listener` whenever a key or link may have become invalid. */
  onChange(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Stores the hash under the present secret for a key that was stored under an earlier one. */
  async #rehash(former: string, hash: string): Promise<boolean> {
    const { clock, keys } = this.#deps;
    const holder = await keys.findByHash(former);
    if (holder === undefined) {
      return false;
    }
    await keys.touch(holder.key.id, clock.now(), hash);
    return true;
  }

  async #query(hash: string, nowMs: number): Promise<KeyHolder | undefined> {
    const holder = this.#deps.keys.findByHash(hash);
    const entry = { holder, untilMs: nowMs + KEY_LIFETIME_MS };
    this.#store(hash, entry);
    const isKey = (await holder.catch(() => undefined)) !== undefined;
    // Unknown keys are not cached, because there can be any number of them. The entry may already be a newer one.
    if (!isKey && this.#entries.get(hash) === entry) {
      this.#entries.delete(hash);
    }
    return holder;
  }

  #store(hash: string, entry: CacheEntry): void {
    this.#entries.delete(hash);
    this.#entries.set(hash, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > ENTRIES_MAX && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }

  /** Not awaited, because recording the use must not delay the request. */
  #touch({ key }: KeyHolder, now: Date): void {
    const lastMs = this.#touchedMs.get(key.id) ?? key.lastUsedAt?.getTime() ?? 0;
    if (now.getTime() - lastMs < TOUCH_MS) {
      return;
    }
    if (this.#touchedMs.size >= ENTRIES_MAX) {
      this.#touchedMs.clear();
    }
    this.#touchedMs.set(key.id, now.getTime());
    this.#deps.keys.touch(key.id, now).catch((error: unknown) => {
      this.#deps.log.warn({ error, keyId: key.id }, "key.use.unrecorded");
    });
  }
}
