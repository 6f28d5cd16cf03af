import type { Clock } from "../../core/basics/clock.ts";
import { holderOfKey, isAlive, type KeyHolder, type KnownKey } from "../../core/model/people/api-key.ts";
import { holderOfSignIn, type KnownSignIn } from "../../core/model/people/sign-in-holder.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../../core/ports/pubsub.ts";
import type { KeyStore } from "../../core/ports/stores/people-stores.ts";
import type { SignInStore } from "../../core/ports/stores/sign-in-store.ts";
import type { KeyHasher } from "./api-keys.ts";

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

const IDS_MAX = 10_000;

export interface UseRecorderDeps {
  /** How much time passes at least between two records of the same id. */
  readonly everyMs: number;
  readonly record: (id: string, at: Date) => Promise<void>;
  readonly onError: (error: unknown, id: string) => void;
}

/** Records the last use of keys and sign-ins, not more often than needed. */
export class UseRecorder {
  readonly #deps: UseRecorderDeps;
  readonly #recordedMs = new Map<string, number>();

  constructor(deps: UseRecorderDeps) {
    this.#deps = deps;
  }

  /** Not awaited, because recording the use must not delay the request. */
  used(id: string, lastUse: Date | undefined, now: Date): void {
    const lastMs = this.#recordedMs.get(id) ?? lastUse?.getTime() ?? 0;
    if (now.getTime() - lastMs < this.#deps.everyMs) {
      return;
    }
    if (this.#recordedMs.size >= IDS_MAX) {
      this.#recordedMs.clear();
    }
    this.#recordedMs.set(id, now.getTime());
    this.#deps.record(id, now).catch((error: unknown) => this.#deps.onError(error, id));
  }
}

export interface ApiKeyCacheDeps {
  readonly keys: KeyStore;
  readonly hashKey: KeyHasher;
  /** Compute the hash of a key under earlier secret keys of this server, the newest first. */
  readonly formerHashers: readonly KeyHasher[];
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

const KEY_TOUCH_MS = 60_000;

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
      everyMs: KEY_TOUCH_MS,
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

export interface SignInCacheDeps {
  readonly signIns: SignInStore;
  readonly hashKey: KeyHasher;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

const SIGN_IN_TOUCH_MS = 5 * 60_000;

/** The sign-ins in use, by the token in the browser's cookie. */
export class SignInCache {
  readonly #deps: SignInCacheDeps;
  readonly #lookups: LookupCache<KnownSignIn>;
  readonly #uses: UseRecorder;

  constructor(deps: SignInCacheDeps) {
    const { clock, log, signIns } = deps;
    this.#deps = deps;
    this.#lookups = new LookupCache(clock, (hash) => signIns.findByHash(hash));
    this.#uses = new UseRecorder({
      everyMs: SIGN_IN_TOUCH_MS,
      record: (id, at) => signIns.touch(id, at),
      onError: (error, signInId) => log.warn({ error, signInId }, "sign-in.use.unrecorded"),
    });
  }

  /** Returns who is signed in with this token, if the sign-in is open now. */
  async findByToken(token: string): Promise<KeyHolder | undefined> {
    const { clock, hashKey } = this.#deps;
    const known = await this.#lookups.find(hashKey(token));
    const now = clock.now();
    const holder = known && holderOfSignIn(known, now);
    if (known !== undefined && holder !== undefined) {
      this.#uses.used(known.signIn.id, known.signIn.lastSeenAt, now);
    }
    return holder;
  }

  /** Drops all entries, so that the next lookup reads the database. */
  clear(): void {
    this.#lookups.clear();
  }
}
