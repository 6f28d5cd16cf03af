import type { Clock } from "../../core/basics/clock.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import { holderOfSignIn, type KnownSignIn } from "../../core/model/people/sign-in-holder.ts";
import type { SignInStore } from "../../core/ports/stores/sign-in-store.ts";
import type { KeyHasher } from "./api-keys.ts";
import { LookupCache } from "./lookup-cache.ts";
import { UseRecorder } from "./use-recorder.ts";

export interface SignInCacheDeps {
  readonly signIns: SignInStore;
  readonly hashKey: KeyHasher;
  readonly clock: Clock;
  readonly log: { warn(facts: object, message: string): void };
}

const TOUCH_MS = 5 * 60_000;

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
      everyMs: TOUCH_MS,
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
