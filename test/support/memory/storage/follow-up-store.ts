import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { FollowUp } from "../../../../src/core/model/runs/follow-up.ts";
import {
  FOLLOW_UPS_LENGTH_MAX,
  type FollowUpStore,
  type ShownFollowUp,
} from "../../../../src/core/ports/stores/follow-up-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { followUpsOf } from "./run-store.ts";

export class InMemoryFollowUpStore implements FollowUpStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  find(runId: RunId, id: string): Promise<FollowUp | undefined> {
    return this.#database.read((tables) => followUpsOf(tables, runId).find((followUp) => followUp.id === id));
  }

  findByMessage(runId: RunId, messageRef: string): Promise<FollowUp | undefined> {
    return this.#database.read((tables) =>
      followUpsOf(tables, runId).findLast(
        (followUp) => followUp.messageRef === messageRef && followUp.withdrawnAt === undefined,
      ),
    );
  }

  list(runId: RunId, after: number, limit: number): Promise<readonly FollowUp[]> {
    return this.#database.read((tables) =>
      withinLength(
        followUpsOf(tables, runId)
          .filter(({ isAnswer, seq }) => seq > after && isAnswer !== true)
          .slice(0, limit),
      ),
    );
  }

  countReports(runId: RunId): Promise<number> {
    return this.#database.read((tables) => {
      const known = followUpsOf(tables, runId).filter(({ withdrawnAt }) => withdrawnAt === undefined);
      return known.length - 1 - known.findLastIndex(({ isReport }) => isReport !== true);
    });
  }

  listFromTurn(runId: RunId, from: number, end?: number): Promise<readonly ShownFollowUp[]> {
    return this.#database.read((tables) => {
      const listed = followUpsOf(tables, runId).filter(
        ({ turn = Infinity, withdrawnAt }) =>
          withdrawnAt === undefined && turn >= from && (end === undefined || turn < end),
      );
      const latestFirst = listed.toSorted((a, b) => turnOf(b) - turnOf(a) || b.seq - a.seq);
      const shown = new Set(withinLength(latestFirst));
      return listed.map((followUp) => {
        const { message, ...others } = followUp;
        return shown.has(followUp) ? followUp : others;
      });
    });
  }
}

/** What waits has no turn, and comes after all turns. */
function turnOf({ turn = Number.MAX_SAFE_INTEGER }: FollowUp): number {
  return turn;
}

function withinLength(followUps: readonly FollowUp[]): readonly FollowUp[] {
  let before = 0;
  return followUps.filter(({ message }) => {
    const fits = before < FOLLOW_UPS_LENGTH_MAX;
    before += Buffer.byteLength(message);
    return fits;
  });
}
