import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { ACTOR_TYPES, type AuditEntry } from "../../core/model/people/audit.ts";
import { membersWithApiNames } from "./event-names.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./page-info.ts";
import { TimeInput, Timestamp } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 50;
const EXAMPLE = {
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d74",
  at: "2026-03-01T09:00:00.000Z",
  actor: {
    uid: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d75",
    type: "user",
    key_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d76",
    address: "203.0.113.7",
  },
  action: "policy.updated",
  target: { type: "policy", id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d77" },
  before: { enabled: true },
  after: { enabled: false },
  request_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d78",
};

export const ListAuditQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe(
    "The maximum number of entries per page. A page is shorter if they are long (4 MiB).",
  ),
  cursor: z.string().optional().describe("`next_cursor` of the previous page. Requires the same filters."),
  actor: z.string().optional().describe("The uid of the actor."),
  action: z.string().optional().describe("The action, for example `key.revoked`."),
  target_type: z.string().optional().describe("The type of the target, for example `policy`."),
  target_id: z.string().optional().describe("The id of the target."),
  created_after: TimeInput.optional().describe("Only entries after this time (RFC 3339)."),
  created_before: TimeInput.optional().describe("Only entries before this time (RFC 3339)."),
});
export type ListAuditQuery = z.output<typeof ListAuditQuery>;

const AuditActorItem = z
  .object({
    uid: z
      .string()
      .describe(
        "The principal, or the share link of a guest. Of a system actor: the part of the server, for example " +
          "`start`, `adapter:chat` or `server`.",
      ),
    type: z.enum(ACTOR_TYPES).describe("What made the change: a caller, or the server itself."),
    key_id: z.string().optional().describe("The API key that the caller used."),
    address: z.string().optional().describe("The caller's network address."),
  })
  .meta({ id: "AuditActor", description: "Who made a change.", examples: [EXAMPLE.actor] });

const AuditTarget = z
  .object({ type: z.string().describe("The type of the object."), id: z.string().describe("Its id.") })
  .meta({ id: "AuditTarget", description: "The object that was changed.", examples: [EXAMPLE.target] });

const Members = z.record(z.string(), z.unknown());

const AuditEntryItem = z
  .object({
    id: z.uuid().describe("The entry's id."),
    at: Timestamp.describe("When the change was made."),
    actor: AuditActorItem,
    action: z.string().describe("The type of the target and what happened to it, for example `key.created`."),
    target: AuditTarget,
    before: Members.optional().describe("The members that changed, as they were. Absent for a new object."),
    after: Members.optional().describe("The members that changed, as they are. Absent for a deleted object."),
    request_id: z
      .string()
      .describe("The `X-Request-Id` of the request. Changes without a request name their transaction."),
  })
  .meta({
    id: "AuditEntry",
    description: "One change to one object. It contains no secret: such values are shown as `[redacted]`.",
    examples: [EXAMPLE],
  });
type AuditEntryItem = z.output<typeof AuditEntryItem>;

export const ListAuditResponse = z
  .object({ entries: z.array(AuditEntryItem).describe("The newest entry comes first."), page_info: PageInfo })
  .meta({
    id: "ListAuditResponse",
    description: "A page of audit entries.",
    examples: [{ entries: [EXAMPLE], page_info: { has_next_page: false } }],
  });
export type ListAuditResponse = z.output<typeof ListAuditResponse>;

/** Columns with JSON whose members have the names of the code. In all other columns, callers choose the names. */
const NAMED_BY_THE_CODE: Readonly<Record<string, readonly string[]>> = {
  environment: ["config"],
  policy: ["match"],
  routing_rule: ["match"],
  run: ["approval"],
  follow_up: ["approval"],
};

export function auditItem(entry: AuditEntry): AuditEntryItem {
  const { actor, after, before, targetId, targetType } = entry;
  const { address, keyId, type, uid } = actor;
  return defined({
    id: entry.id,
    at: entry.at.toISOString(),
    actor: {
      uid,
      type,
      ...defined({ key_id: keyId, address }),
    },
    action: entry.action,
    target: { type: targetType, id: targetId },
    before: before === undefined ? undefined : membersOf(targetType, before),
    after: after === undefined ? undefined : membersOf(targetType, after),
    request_id: entry.requestId,
  });
}

function membersOf(targetType: string, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = NAMED_BY_THE_CODE[targetType] ?? [];
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      named.includes(name) && typeof value === "object" && value !== null
        ? membersWithApiNames(value)
        : value,
    ]),
  );
}
