import type { TeamId } from "../ids.ts";

/** Something a team keeps and changes now and then: an environment, a schedule, a policy. */
export interface TeamRecord {
  readonly id: string;
  readonly teamId: TeamId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Records of one kind. A team keeps few of them, so they are listed whole. */
export interface RecordStore<R extends TeamRecord> {
  /** Throws `UniqueConflict` when the team has one of that name and the kind wants names unique. */
  add(record: R): Promise<void>;
  find(teamId: TeamId, id: string): Promise<R | undefined>;
  /** The oldest first. */
  list(teamId: TeamId): Promise<readonly R[]>;
  /**
   * False when there is none of its id in its team, or when that was changed at another time than `seenAt`, where this
   * is given. Throws `UniqueConflict` as `add` does.
   */
  replace(record: R, seenAt?: Date): Promise<boolean>;
  remove(teamId: TeamId, id: string): Promise<boolean>;
}
