import type { TeamId } from "../../basics/ids.ts";
import type { AuditEntry } from "../../model/people/audit.ts";

export interface AuditQuery {
  readonly teamId: TeamId;
  readonly actor?: string;
  readonly action?: string;
  readonly targetType?: string;
  readonly targetId?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  /** Only entries with a smaller `seq`. */
  readonly before?: bigint;
  /** The maximum number of entries. There are fewer when they are long (`AUDIT_LENGTH_MAX`). */
  readonly limit: number;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/**
 * Reads the audit entries. The storage writes them itself, in the transaction of each change, so there is no method to
 * add one. The transaction names its author: `Storage.atomically`, `RunChange.audit`.
 */
export interface AuditLog {
  list(query: AuditQuery): Promise<AuditPage>;
}
