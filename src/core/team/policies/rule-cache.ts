import type { Clock } from "../../basics/clock.ts";
import type { TeamId } from "../../basics/ids.ts";
import { inOrder, type Rule } from "../../model/policies/rule.ts";
import type { PubSub } from "../../ports/pubsub.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";

export interface RuleCacheDeps<R extends Rule> {
  readonly records: Pick<RecordStore<R>, "list">;
  /** The channel that announces changed rules of this kind. */
  readonly channel: string;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** A notification clears the cache at once. If it is lost, old rules apply for at most this long. */
const KEPT_MS = 5_000;

interface Kept<R> {
  readonly rules: Promise<readonly R[]>;
  readonly untilMs: number;
}

/** Caches the rules of each team, so that they are not read for every run. */
export class RuleCache<R extends Rule> {
  readonly #deps: RuleCacheDeps<R>;
  readonly #kept = new Map<TeamId, Kept<R>>();

  constructor(deps: RuleCacheDeps<R>) {
    this.#deps = deps;
    deps.pubsub.subscribe(deps.channel, () => this.#kept.clear());
  }

  /** The enabled rules in their order. */
  of(teamId: TeamId): Promise<readonly R[]> {
    const nowMs = this.#deps.clock.now().getTime();
    const kept = this.#kept.get(teamId);
    if (kept !== undefined && kept.untilMs > nowMs) {
      return kept.rules;
    }
    const read = { rules: this.#read(teamId), untilMs: nowMs + KEPT_MS };
    this.#kept.set(teamId, read);
    read.rules.catch(() => this.#forget(teamId, read));
    return read.rules;
  }

  async #read(teamId: TeamId): Promise<readonly R[]> {
    return inOrder(await this.#deps.records.list(teamId));
  }

  /** A failed read is not cached. */
  #forget(teamId: TeamId, read: Kept<R>): void {
    if (this.#kept.get(teamId) === read) {
      this.#kept.delete(teamId);
    }
  }
}
