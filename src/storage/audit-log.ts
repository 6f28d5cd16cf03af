import type { AuditContext, AuditEntry, AuditLog, AuditQuery } from "../core/audit/audit-log.ts";
import type { Statements, Tx } from "./database.ts";
import type { AuditEntry as AuditEntryRow, Prisma } from "./generated/client.ts";
import { AUDIT_ACTOR, AUDIT_MEMBERS } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";

/** The triggers of the audited tables write the entries. */
export class PrismaAuditLog implements AuditLog {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(query: AuditQuery): Promise<readonly AuditEntry[]> {
    const { limit: take } = query;
    const rows = await this.#database.query((client) =>
      client.auditEntry.findMany({ where: whereOf(query), orderBy: { seq: "desc" }, take }),
    );
    return rows.map(entryOf);
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

function whereOf(query: AuditQuery): Prisma.AuditEntryWhereInput {
  const { action, actor, before, createdAfter, createdBefore, targetId, targetType, teamId } = query;
  const at = {
    ...(createdAfter === undefined ? {} : { gt: createdAfter }),
    ...(createdBefore === undefined ? {} : { lt: createdBefore }),
  };
  return {
    teamId,
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor: { path: ["uid"], equals: actor } }),
    ...(targetType === undefined ? {} : { targetType }),
    ...(targetId === undefined ? {} : { targetId }),
    ...(createdAfter === undefined && createdBefore === undefined ? {} : { at }),
    ...(before === undefined ? {} : { seq: { lt: before } }),
  };
}

function entryOf({ actor, before, after, teamId: _teamId, ...row }: AuditEntryRow): AuditEntry {
  const location = { table: "audit_entries", id: row.id };
  const members = (value: unknown, column: string) =>
    parseJsonColumn(AUDIT_MEMBERS, value, { ...location, column });
  return {
    ...row,
    actor: parseJsonColumn(AUDIT_ACTOR, actor, { ...location, column: "actor" }),
    ...(before === null ? {} : { before: members(before, "before") }),
    ...(after === null ? {} : { after: members(after, "after") }),
  };
}
