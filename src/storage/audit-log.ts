import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import {
  ACTOR_TYPES,
  AUDIT_LENGTH_MAX,
  type AuditActor,
  type AuditContext,
  type AuditEntry,
} from "../core/model/people/audit.ts";
import type { AuditLog, AuditPage, AuditQuery } from "../core/ports/stores/audit-log.ts";
import type { Statement, Statements, Tx } from "./database.ts";
import { type AuditEntry as AuditEntryRow, Prisma } from "./generated/client.ts";
import { type MembersOf, text } from "./json-columns.ts";
import { parseJsonColumn, selectList } from "./rows.ts";
import { type LengthLimit, withinLength } from "./within-length.ts";

const AUDIT_ACTOR: z.ZodType<AuditActor> = z.looseObject({
  uid: z.string(),
  type: z.enum(ACTOR_TYPES),
  keyId: text,
  address: text,
} satisfies MembersOf<AuditActor>);

const AUDIT_MEMBERS: z.ZodType<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown());

const { join, raw, sql } = Prisma;

const FIELDS = [
  "seq",
  "id",
  "at",
  "actor",
  "action",
  "targetType",
  "targetId",
  "before",
  "after",
  "requestId",
];
const NEWEST_FIRST = "seq DESC";
const LENGTH: LengthLimit = {
  stored: "coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0)",
  text: "octet_length(concat(before::text, after::text))",
  max: AUDIT_LENGTH_MAX,
};

/** `foundCount`: the number of entries before the page was cut by its length, at most one more than it may have. */
type Row = Omit<AuditEntryRow, "seq" | "teamId"> & {
  readonly seq: bigint | string;
  readonly foundCount: number;
};

/** The triggers of the audited tables write the entries. */
export class PrismaAuditLog implements AuditLog {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(query: AuditQuery): Promise<AuditPage> {
    const rows = await this.#database.rows<Row>(listStatement(query));
    const entries = rows.slice(0, query.limit).map(entryOf);
    return { entries, hasMore: (rows[0]?.foundCount ?? 0) > entries.length };
  }
}

/** Names the author of the changes that follow in this transaction. */
export async function nameAuthor(tx: Tx, author: AuditContext | undefined): Promise<void> {
  if (author !== undefined) {
    await tx.$executeRaw`SELECT set_config('errand.audit', ${JSON.stringify(author)}, true)`;
  }
}

/** Names a part of the server as the author, unless the transaction already has one. */
export async function nameSystemAuthor(tx: Tx, uid: string): Promise<void> {
  const author: AuditContext = { actor: { uid, type: "system" } };
  await tx.$executeRaw`
    SELECT set_config('errand.audit',
      coalesce(nullif(current_setting('errand.audit', true), ''), ${JSON.stringify(author)}), true)`;
}

/** Selects one entry more than the page has, to know whether there is another page. */
function listStatement(query: AuditQuery): Statement {
  const { text, values } = sql`
    SELECT *, count(*) OVER ()::int AS "foundCount" FROM (
      SELECT ${raw(selectList(FIELDS))} FROM audit_entries WHERE ${join(conditionsOf(query), " AND ")}
      ORDER BY ${raw(NEWEST_FIRST)} LIMIT ${query.limit + 1}::int
    ) found`;
  const page = `${withinLength(text, NEWEST_FIRST, LENGTH)} ORDER BY ${NEWEST_FIRST}`;
  return { text: page, values, isPlannedAnew: true };
}

function conditionsOf(query: AuditQuery): readonly Prisma.Sql[] {
  const { action, actor, before, createdAfter, createdBefore, targetId, targetType, teamId } = query;
  return [
    sql`team_id = ${teamId}::uuid`,
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(actor === undefined ? [] : [sql`actor ->> 'uid' = ${actor}`]),
    ...(targetType === undefined ? [] : [sql`target_type = ${targetType}`]),
    ...(targetId === undefined ? [] : [sql`target_id = ${targetId}`]),
    ...(createdAfter === undefined ? [] : [sql`at > ${createdAfter}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`at < ${createdBefore}::timestamptz`]),
    ...(before === undefined ? [] : [sql`seq < ${before}::bigint`]),
  ];
}

function entryOf({ actor, after, before, seq, ...row }: Row): AuditEntry {
  const { action, at, id, requestId, targetId, targetType } = row;
  const location = { table: "audit_entries", id };
  const members = (value: unknown, column: string) =>
    parseJsonColumn(AUDIT_MEMBERS, value, { ...location, column });
  return {
    id,
    at,
    action,
    targetType,
    targetId,
    requestId,
    seq: BigInt(seq),
    actor: parseJsonColumn(AUDIT_ACTOR, actor, { ...location, column: "actor" }),
    ...defined({
      before: before === null ? undefined : members(before, "before"),
      after: after === null ? undefined : members(after, "after"),
    }),
  };
}
