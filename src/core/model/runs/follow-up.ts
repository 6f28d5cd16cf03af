import type { PrincipalId, RunId } from "../../basics/ids.ts";
import type { FollowUpFile } from "../workspaces/input-file.ts";
import type { LineComment } from "./line-comment.ts";
import type { Approval, Provenance, RunMode } from "./run.ts";
import type { RunSource } from "./sources.ts";

/** A message to a run after its first one. */
export interface FollowUp {
  readonly id: string;
  readonly runId: RunId;
  readonly seq: number;
  readonly message: string;
  /** The comments on changed lines that came with it. The agent reads them in `message`. */
  readonly comments?: readonly LineComment[];
  /** Text around the message by any author. The agent receives it fenced, as data. */
  readonly context?: string;
  /** Files that came with the message. The turn that takes it gets them. */
  readonly files?: readonly FollowUpFile[];
  /** The message in the thread that it came from, as the thread's adapter names it. */
  readonly messageRef?: string;
  /** The thread that it came from. Absent: another way, such as the API. */
  readonly threadId?: string;
  readonly mode?: RunMode;
  readonly delivery: FollowUpDelivery;
  /** Neither the follow-up nor its answer is posted to the run's threads. */
  readonly private: boolean;
  /** The id of a principal or, for a guest, of the share link. */
  readonly authorId: PrincipalId;
  /** Absent: by a principal. */
  readonly byGuest?: true;
  /** The account of its author, as the adapter of its thread writes it. Absent: another way, or not known. */
  readonly actor?: Provenance["actor"];
  /** Where it was sent from. */
  readonly source: RunSource;
  readonly createdAt: Date;
  /** The turn that takes it; undefined while it waits. */
  readonly turn?: number;
  /** When its message was last rewritten. */
  readonly editedAt?: Date;
  /** When it was withdrawn or refused. No turn takes it. */
  readonly withdrawnAt?: Date;
  /** The approval that a policy requires of this follow-up. Without an approval, no turn takes it. */
  readonly approval?: Approval;
  /** True if it continues a run that had ended. Without it, the run has nothing to do. */
  readonly resumes?: boolean;
  /** True for the answer to a question, which reaches the agent with the next turn. It is not a message of its own. */
  readonly isAnswer?: boolean;
  /** True if a platform reported it, for example failing checks. Its author is the person who requested the run. */
  readonly isReport?: boolean;
  /** True if it asks for the pull request of the work so far. No agent gets it. */
  readonly asksForPullRequest?: boolean;
}

export const FOLLOW_UP_DELIVERIES = ["queue", "interrupt", "steer"] as const;
export type FollowUpDelivery = (typeof FOLLOW_UP_DELIVERIES)[number];
