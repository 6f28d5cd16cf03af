import type { TeamId } from "../../basics/ids.ts";
import type { Viewer } from "./principal.ts";

export const ACTOR_TYPES = ["user", "service_account", "guest", "system"] as const;

/** Who made a change: a caller, or a part of the server. */
export interface AuditActor {
  /** The principal. Of a system actor: the part of the server, for example `start` or `adapter:slack`. */
  readonly uid: string;
  readonly type: (typeof ACTOR_TYPES)[number];
  /** The API key that the caller used. */
  readonly keyId?: string;
  /** The caller's network address. */
  readonly address?: string;
}

/** What the entries of one transaction say about its author. */
export interface AuditContext {
  readonly actor: AuditActor;
  /** The entries are shown to this team too, if the changed object belongs to another. */
  readonly teamId?: TeamId;
  readonly requestId?: string;
}

/** One change to one object. */
export interface AuditEntry {
  readonly id: string;
  /** The order of the entries. */
  readonly seq: bigint;
  readonly at: Date;
  readonly actor: AuditActor;
  /** The type of the target and what happened to it, for example `key.revoked`. */
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  /** The members that changed, without secrets. Absent: the object did not exist, or exists no more. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  /** The request that made the change. Changes without a request name their transaction. */
  readonly requestId: string;
}

/** A page ends with the entry that reaches this size, in bytes of JSON. A changed prompt may have a mebibyte. */
export const AUDIT_LENGTH_MAX = 4 * 2 ** 20;

/** The context of changes that a viewer makes without an API request, for example by a message in a thread. */
export function auditContextOf({ id, onlyRunId, teamId, type = "user" }: Viewer): AuditContext {
  return { actor: { uid: id, type: onlyRunId === undefined ? type : "guest" }, teamId };
}
