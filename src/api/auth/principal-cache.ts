import type { PrincipalId } from "../../core/ids.ts";
import type { PeopleStore } from "../../core/people/people-stores.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CHANNELS, type PubSub } from "../../core/ports/pubsub.ts";

export interface PrincipalCacheDeps {
  readonly people: Pick<PeopleStore, "getMany">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** Should news of a changed name be lost, the old one is shown this long. */
const KEPT_MS = 5_000;
const KEPT_MAX = 10_000;

interface Kept {
  readonly principal: Principal;
  readonly untilMs: number;
}

/** Whose name stands on what is shown: the same few people on most of it. Nothing is allowed or refused by this. */
export class PrincipalCache {
  readonly #deps: PrincipalCacheDeps;
  readonly #kept = new Map<PrincipalId, Kept>();
  #changes = 0;

  constructor(deps: PrincipalCacheDeps) {
    this.#deps = deps;
    deps.pubsub.subscribe(CHANNELS.keys, () => this.#forget());
  }

  /** Those of `ids` that exist. */
  async getMany(ids: ReadonlySet<PrincipalId>): Promise<ReadonlyMap<PrincipalId, Principal>> {
    const nowMs = this.#deps.clock.now().getTime();
    const people = new Map<PrincipalId, Principal>();
    for (const id of ids) {
      const kept = this.#kept.get(id);
      if (kept !== undefined && kept.untilMs > nowMs) people.set(id, kept.principal);
    }
    const missing = ids.difference(people);
    const read = missing.size === 0 ? [] : await this.#read([...missing], nowMs);
    for (const principal of read) people.set(principal.id, principal);
    return people;
  }

  async #read(ids: readonly PrincipalId[], nowMs: number): Promise<readonly Principal[]> {
    const changes = this.#changes;
    const people = await this.#deps.people.getMany(ids);
    // What was read may be what has just changed: then it is shown this once and not kept.
    if (changes !== this.#changes) return people;
    if (this.#kept.size + people.length > KEPT_MAX) this.#kept.clear();
    for (const principal of people) this.#kept.set(principal.id, { principal, untilMs: nowMs + KEPT_MS });
    return people;
  }

  #forget(): void {
    this.#changes += 1;
    this.#kept.clear();
  }
}
