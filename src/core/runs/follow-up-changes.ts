import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Run, WaitingFollowUp } from "../model/runs/run.ts";
import type { RunChange } from "../ports/stores/run-change.ts";
import type { RunAggregate } from "../ports/stores/run-store.ts";
import { deliverable, isWaitingForApproval } from "./approval.ts";

/** Collects what one change of a run does with its follow-ups. */
export class FollowUpChanges {
  readonly #aggregate: RunAggregate;
  readonly #added: Omit<FollowUp, "seq">[] = [];
  readonly #replaced = new Map<string, FollowUp>();
  #taken: RunChange["takenFollowUps"];

  constructor(aggregate: RunAggregate) {
    this.#aggregate = aggregate;
  }

  add(followUp: Omit<FollowUp, "seq">): void {
    this.#added.push(followUp);
  }

  /** Replaces a waiting follow-up by this version of it. */
  replace(followUp: FollowUp): FollowUp {
    this.#replaced.set(followUp.id, followUp);
    return followUp;
  }

  /** The turn takes these waiting follow-ups. */
  take(turn: number, ids: readonly string[]): void {
    if (ids.length > 0) {
      this.#taken = { turn, ids };
    }
  }

  /** The follow-ups that wait for a turn after this change, in order. */
  get waiting(): readonly FollowUp[] {
    const taken = new Set(this.#taken?.ids ?? []);
    const left = this.#aggregate.waiting
      .filter(({ id }) => !taken.has(id))
      .map((followUp) => this.#replaced.get(followUp.id) ?? followUp)
      .filter(({ withdrawnAt }) => withdrawnAt === undefined);
    const last = left.at(-1)?.seq ?? 0;
    return [...left, ...this.#added.map((added, index) => ({ ...added, seq: last + index + 1 }))];
  }

  /** The first of them that waits for an approval of its own. */
  waitingForApproval(now: Date): WaitingFollowUp | undefined {
    const first = this.waiting.find(isWaitingForApproval);
    if (first?.approval === undefined) {
      return undefined;
    }
    const { authorIds, reason } = first.approval;
    const before = this.#aggregate.run.waitingFollowUp;
    const since = before?.followUpId === first.id ? before.since : now;
    return { followUpId: first.id, reason, authorIds: [...new Set([first.authorId, ...authorIds])], since };
  }

  /**
   * Whether every follow-up of the open turn, or else of the next turn, is private. The prompt of the first turn
   * never is.
   */
  get isTurnPrivate(): boolean {
    const { run, taken } = this.#aggregate;
    const waiting = deliverable(this.#aggregate.waiting);
    const joining = waiting.filter(({ id }) => this.#taken?.ids.includes(id));
    const followUps = run.turnOpen ? [...taken, ...joining] : waiting;
    return !isFirstTurn(run) && followUps.length > 0 && followUps.every((followUp) => followUp.private);
  }

  get done(): Pick<RunChange, "changedFollowUps" | "followUps" | "takenFollowUps"> {
    return {
      followUps: this.#added,
      changedFollowUps: [...this.#replaced.values()],
      takenFollowUps: this.#taken,
    };
  }
}

/** Whether the open turn, or else the next one, is the first, which begins with the prompt of the run. */
export function isFirstTurn({ turn, turnOpen }: Pick<Run, "turn" | "turnOpen">): boolean {
  return turn === 0 || (turn === 1 && turnOpen);
}
