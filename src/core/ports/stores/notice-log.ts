import type { RunId, TeamId } from "../../basics/ids.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { DeadNotices } from "../adapter-facts.ts";

/** Lists the notices to threads for administrators, and delivers them again on request. It never returns their text. */
export interface NoticeLog {
  /** Newest first. */
  list(query: NoticeQuery): Promise<readonly LoggedNotice[]>;
  /** Notices of other teams are not found. */
  find(teamId: TeamId, id: string): Promise<LoggedNotice | undefined>;
  /**
   * Delivers a notice again that was given up. A card with a newer card counts as replaced, because the newer one must
   * stay. False when the notice was not given up.
   */
  retry(id: string): Promise<boolean>;
  /** The notices of the last `days` days that were given up, over all teams, most frequent first. At most 200 rows. */
  listDead(days: number): Promise<readonly DeadNotices[]>;
  /** The messages, without cards and reactions, that wait now for a rate limit of their platform. */
  listHeld(): Promise<readonly HeldNotices[]>;
}

export interface HeldNotices {
  readonly adapter: string;
  readonly count: number;
  /** When the last of them is sent. */
  readonly until: Date;
}

export interface NoticeQuery {
  readonly teamId: TeamId;
  readonly runId?: RunId;
  readonly threadId?: string;
  readonly state?: NoticeState;
  /** Only notices with a smaller `seq`. */
  readonly before?: bigint;
  readonly limit: number;
}

export const NOTICE_STATES = ["pending", "delivered", "replaced", "dead"] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

export const NOTICE_KINDS = ["card", "answer", "question", "other"] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export interface LoggedNotice {
  readonly id: string;
  /** The order in which notices were stored. */
  readonly seq: bigint;
  readonly threadId: string;
  readonly runId?: RunId;
  readonly kind: NoticeKind;
  readonly state: NoticeState;
  /** All tries so far. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly deliveredAt?: Date;
  /** A limit of the platform holds it back until then. */
  readonly heldUntil?: Date;
  readonly error?: string;
  readonly permalink?: string;
}

export function noticeKindOf(notice: Notice): NoticeKind {
  if (notice.kind === "card") {
    return "card";
  }
  const purpose = notice.kind === "message" ? notice.purpose : undefined;
  return purpose === "answer" || purpose === "question" ? purpose : "other";
}
