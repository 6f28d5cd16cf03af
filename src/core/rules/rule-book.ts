import type { TeamId } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { PubSub } from "../ports/pubsub.ts";
import type { RecordStore } from "../records/record-store.ts";
import { inOrder, type Rule } from "./rule.ts";

export interface RuleBookDeps<R extends Rule> {
  readonly records: Pick<RecordStore<R>, "list">;
  /** What is told when rules of this kind have changed. */
  readonly channel: string;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** News of a changed rule comes at once; should it be lost, the rules as they were hold this long still. */
const KEPT_MS = 5_000;

interface Kept<R> {
  readonly rules: Promise<readonly R[]>;
  readonly untilMs: number;
}

/** The rules of each team, read once in a while and not for every run. */
export class RuleBook<R extends Rule> {
  readonly #deps: RuleBookDeps<R>;
  readonly #kept = new Map<TeamId, Kept<R>>();

  constructor(deps: RuleBookDeps<R>) {
    this.#deps = deps;
    deps.pubsub.subscribe(deps.channel, () => this.#kept.clear());
  }

  /** Those that count, in their order. */
  of(teamId: TeamId): Promise<readonly R[]> {
    const nowMs = this.#deps.clock.now().getTime();
    const kept = this.#kept.get(teamId);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.rules;
    const read = { rules: this.#read(teamId), untilMs: nowMs + KEPT_MS };
    this.#kept.set(teamId, read);
    read.rules.catch(() => this.#forget(teamId, read));
    return read.rules;
  }

  async #read(teamId: TeamId): Promise<readonly R[]> {
    return inOrder(await this.#deps.records.list(teamId));
  }

  /** What could not be read is asked for again, not kept. */
  #forget(teamId: TeamId, read: Kept<R>): void {
    if (this.#kept.get(teamId) === read) this.#kept.delete(teamId);
  }
}
