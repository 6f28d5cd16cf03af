import { isAlive, type KeyHolder } from "../../core/people/api-key.ts";
import type { KeyStore } from "../../core/people/people-stores.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CHANNELS, type PubSub, type Unsubscribe } from "../../core/ports/pubsub.ts";
import type { KeyHasher } from "./api-keys.ts";

export interface ApiKeyCacheDeps {
  readonly keys: KeyStore;
  readonly hashKey: KeyHasher;
  /** How keys were hashed under earlier secrets of the installation, the newest first. */
  readonly formerHashers: readonly KeyHasher[];
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

/** News of a revoked key comes at once; should it be lost, a key that was just used opens this long still. */
const KEPT_MS = 5_000;
const KEPT_MAX = 10_000;
const TOUCH_MS = 60_000;

interface Kept {
  /** Kept from the moment it is asked for: requests that come meanwhile share one look. */
  readonly holder: Promise<KeyHolder | undefined>;
  readonly untilMs: number;
}

/** The keys in use, looked up in the database once in a while and not for every request. */
export class ApiKeyCache {
  readonly #deps: ApiKeyCacheDeps;
  readonly #kept = new Map<string, Kept>();
  readonly #touchedMs = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #silence: Unsubscribe;

  constructor(deps: ApiKeyCacheDeps) {
    this.#deps = deps;
    this.#silence = deps.pubsub.subscribe(CHANNELS.keys, () => this.forget());
  }

  /** The holder of this key, if it opens anything now. */
  async findByKey(key: string): Promise<KeyHolder | undefined> {
    const { formerHashers, hashKey } = this.#deps;
    const hash = hashKey(key);
    const holder = await this.find(hash);
    if (holder !== undefined || formerHashers.length === 0) return holder;
    for (const hashFormerly of formerHashers) {
      if (await this.#rehash(hashFormerly(key), hash)) break;
    }
    // Also where none was found: another request may just have stored it under the present secret.
    return this.find(hash);
  }

  /** The holder of the key with this hash, if it opens anything now. */
  async find(hash: string): Promise<KeyHolder | undefined> {
    const now = this.#deps.clock.now();
    const kept = this.#kept.get(hash);
    const isFresh = kept !== undefined && kept.untilMs > now.getTime();
    const holder = await (isFresh ? kept.holder : this.#lookUp(hash, now.getTime()));
    if (holder === undefined || !isAlive(holder, now)) return undefined;
    this.#touch(holder, now);
    return holder;
  }

  /** Whatever was looked up before this is looked up anew. */
  forget(): void {
    this.#kept.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` whenever what opened something may open it no more. */
  onChange(listener: () => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#silence();
  }

  /** A key that was stored under an earlier secret is stored under the present one from its first use on. */
  async #rehash(former: string, hash: string): Promise<boolean> {
    const { clock, keys } = this.#deps;
    const holder = await keys.findByHash(former);
    if (holder === undefined) return false;
    await keys.touch(holder.key.id, clock.now(), hash);
    return true;
  }

  async #lookUp(hash: string, nowMs: number): Promise<KeyHolder | undefined> {
    const holder = this.#deps.keys.findByHash(hash);
    const kept = { holder, untilMs: nowMs + KEPT_MS };
    this.#keep(hash, kept);
    const isKey = (await holder.catch(() => undefined)) !== undefined;
    // Keys that do not exist come in any number. When keys have changed meanwhile, another look may be in its place.
    if (!isKey && this.#kept.get(hash) === kept) this.#kept.delete(hash);
    return holder;
  }

  #keep(hash: string, kept: Kept): void {
    this.#kept.delete(hash);
    this.#kept.set(hash, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Beside the request: that a key was used is worth no waiting. */
  #touch({ key }: KeyHolder, now: Date): void {
    const lastMs = this.#touchedMs.get(key.id) ?? key.lastUsedAt?.getTime() ?? 0;
    if (now.getTime() - lastMs < TOUCH_MS) return;
    if (this.#touchedMs.size >= KEPT_MAX) this.#touchedMs.clear();
    this.#touchedMs.set(key.id, now.getTime());
    this.#deps.keys.touch(key.id, now).catch((error: unknown) => {
      this.#deps.log.warn({ error, keyId: key.id }, "key.use.unrecorded");
    });
  }
}
