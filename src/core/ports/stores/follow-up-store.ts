import type { RunId } from "../../basics/ids.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";

/** In bytes of all messages of a page. */
export const FOLLOW_UPS_LENGTH_MAX = 4 * 2 ** 20;

/** A follow-up as a conversation shows it. It has no message if the messages of all are too long. */
export type ShownFollowUp = Pick<FollowUp, "createdAt" | "id" | "turn"> & Partial<Pick<FollowUp, "message">>;

/** Reads the follow-ups of runs. `RunStore.change` writes them. */
export interface FollowUpStore {
  find(runId: RunId, id: string): Promise<FollowUp | undefined>;
  /** The newest follow-up that came from this message of a thread and was not withdrawn. */
  findByMessage(runId: RunId, messageRef: string): Promise<FollowUp | undefined>;
  /**
   * The messages to a run, also withdrawn ones, after the one with the number `after`, in order. There are fewer than
   * `limit` when they are long: the page ends with the one that reaches `FOLLOW_UPS_LENGTH_MAX`.
   */
  list(runId: RunId, after: number, limit: number): Promise<readonly FollowUp[]>;
  /** How many reports of platforms came after the last message of a person that was not withdrawn. */
  countReports(runId: RunId): Promise<number>;
  /**
   * What the turns from `turn` on have taken, and what waits, in order; or, with `end`, what the turns before `end` have
   * taken. Answers to questions are among them. What waits and what the latest turns have taken has its message, up to
   * the one that reaches `FOLLOW_UPS_LENGTH_MAX`.
   */
  listFromTurn(runId: RunId, turn: number, end?: number): Promise<readonly ShownFollowUp[]>;
}
