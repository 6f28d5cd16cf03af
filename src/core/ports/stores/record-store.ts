import type { TeamId } from "../../basics/ids.ts";
import type { TeamRecord } from "../../model/people/team-record.ts";
import type { McpServer } from "../../model/secrets/mcp-server.ts";

export type McpServerStore = Pick<RecordStore<McpServer>, "list">;

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
