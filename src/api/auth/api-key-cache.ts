import type { Clock } from "../../core/basics/clock.ts";
import { holderOfKey, isAlive, type KeyHolder, type KnownKey } from "../../core/model/people/api-key.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../../core/ports/pubsub.ts";
import type { KeyStore } from "../../core/ports/stores/people-stores.ts";
import type { KeyHasher } from "./api-keys.ts";
import { LookupCache } from "./lookup-cache.ts";
import { UseRecorder } from "./use-recorder.ts";

export interface ApiKeyCacheDeps {
  readonly keys: KeyStore;
  readonly hashKey: KeyHasher;
  /** Compute the hash of a key under earlier secret keys of this server, the newest first. */
  readonly formerHashers: readonly KeyHasher[];
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

const TOUCH_MS = 60_000;

/** The API keys in use. */
export class ApiKeyCache {
  readonly #deps: ApiKeyCacheDeps;
  readonly #lookups: LookupCache<KnownKey>;
  readonly #uses: UseRecorder;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: Unsubscribe;

  constructor(deps: ApiKeyCacheDeps) {
    const { clock, keys, log, pubsub } = deps;
    this.#deps = deps;
    this.#lookups = new LookupCache(clock, (hash) => keys.findByHash(hash));
    this.#uses = new UseRecorder({
      everyMs: TOUCH_MS,
      record: (id, at) => keys.touch(id, at),
      onError: (error, keyId) => log.warn({ error, keyId }, "key.use.unrecorded"),
    });
    this.#unsubscribe = pubsub.subscribe(CHANNELS.keys, () => this.clear());
  }

  /** Returns the holder of the key if the key is valid now. */
  async findByKey(key: string): Promise<KeyHolder | undefined> {
    const { formerHashers, hashKey } = this.#deps;
    const hash = hashKey(key);
    const holder = await this.#find(hash);
    if (holder !== undefined || formerHashers.length === 0) {
      return holder;
    }
    for (const hashFormerly of formerHashers) {
      if (await this.#rehash(hashFormerly(key), hash)) {
        break;
      }
    }
    // The second lookup is also needed if no key was rehashed: another request may just have done it.
    return this.#find(hash);
  }

  /** Drops all entries, so that the next lookup reads the database. */
  clear(): void {
    this.#lookups.clear();
    for (const listener of this.#listeners) {
      listener();
    }
  }

  /** Calls `listener` whenever a key, a sign-in or a link may have become invalid. */
  onChange(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unsubscribe();
  }

  async #find(hash: string): Promise<KeyHolder | undefined> {
    const known = await this.#lookups.find(hash);
    const now = this.#deps.clock.now();
    if (known === undefined || !isAlive(known, now)) {
      return undefined;
    }
    this.#uses.used(known.key.id, known.key.lastUsedAt, now);
    return holderOfKey(known);
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
}
