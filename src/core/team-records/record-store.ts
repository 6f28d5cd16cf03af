import type { TeamId } from "../ids.ts";

/** A record that a team keeps: an environment, a schedule, a policy. */
export interface TeamRecord {
  readonly id: string;
  readonly teamId: TeamId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Stores records of one kind. A team has few of them, so they are listed without paging. */
export interface RecordStore<R extends TeamRecord> {
  /** Throws `UniqueConflict` when names must be unique and the team already has this one. */
  add(record: R): Promise<void>;
  find(teamId: TeamId, id: string): Promise<R | undefined>;
  /** Oldest first. */
  list(teamId: TeamId): Promise<readonly R[]>;
  /**
   * False when the team has no such record, or when it has changed since `seenAt`, if that is given. Throws
   * `UniqueConflict` like `add`.
   */
  replace(record: R, seenAt?: Date): Promise<boolean>;
  remove(teamId: TeamId, id: string): Promise<boolean>;
}
