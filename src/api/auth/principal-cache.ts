import type { Clock } from "../../core/basics/clock.ts";
import type { PrincipalId, TeamId } from "../../core/basics/ids.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import { CHANNELS, type PubSub } from "../../core/ports/pubsub.ts";
import type { PeopleStore } from "../../core/ports/stores/people-stores.ts";

export interface PrincipalCacheDeps {
  readonly people: Pick<PeopleStore, "getMany" | "list">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** If the notification of a changed name is lost, the old name is shown for this time. */
const LIFETIME_MS = 5_000;
const ENTRIES_MAX = 10_000;

interface CacheEntry {
  readonly principal: Principal;
  readonly untilMs: number;
}

interface TeamEntry {
  readonly members: Promise<readonly Principal[]>;
  readonly untilMs: number;
}

/** The principals whose names are shown. The cache saves queries and is never used for authorisation. */
export class PrincipalCache {
  readonly #deps: PrincipalCacheDeps;
  readonly #entries = new Map<PrincipalId, CacheEntry>();
  readonly #teams = new Map<TeamId, TeamEntry>();
  #changes = 0;

  constructor(deps: PrincipalCacheDeps) {
    this.#deps = deps;
    deps.pubsub.subscribe(CHANNELS.keys, () => this.#clear());
  }

  /** Returns the principals of `ids` that exist. */
  async getMany(ids: ReadonlySet<PrincipalId>): Promise<ReadonlyMap<PrincipalId, Principal>> {
    const nowMs = this.#deps.clock.now().getTime();
    const people = new Map<PrincipalId, Principal>();
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry !== undefined && entry.untilMs > nowMs) {
        people.set(id, entry.principal);
      }
    }
    const missing = ids.difference(people);
    const read = missing.size === 0 ? [] : await this.#read([...missing], nowMs);
    for (const principal of read) {
      people.set(principal.id, principal);
    }
    return people;
  }

  /** Returns the principals of the team. */
  listTeam(teamId: TeamId): Promise<readonly Principal[]> {
    const nowMs = this.#deps.clock.now().getTime();
    const known = this.#teams.get(teamId);
    if (known !== undefined && known.untilMs > nowMs) {
      return known.members;
    }
    const entry = { members: this.#deps.people.list(teamId), untilMs: nowMs + LIFETIME_MS };
    this.#teams.set(teamId, entry);
    entry.members.catch(() => this.#teams.get(teamId) === entry && this.#teams.delete(teamId));
    return entry.members;
  }

  async #read(ids: readonly PrincipalId[], nowMs: number): Promise<readonly Principal[]> {
    const changes = this.#changes;
    const people = await this.#deps.people.getMany(ids);
    // A change arrived during the query, so the result may be outdated: it is returned but not cached.
    if (changes !== this.#changes) {
      return people;
    }
    if (this.#entries.size + people.length > ENTRIES_MAX) {
      this.#entries.clear();
    }
    for (const principal of people) {
      this.#entries.set(principal.id, { principal, untilMs: nowMs + LIFETIME_MS });
    }
    return people;
  }

  #clear(): void {
    this.#changes += 1;
    this.#entries.clear();
    this.#teams.clear();
  }
}
