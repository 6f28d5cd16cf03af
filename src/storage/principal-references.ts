import type { Statements } from "./database.ts";

interface Reference {
  readonly table: string;
  readonly column: string;
  /** Rows that are moved, if not all are: a condition on the table `t` and the joined principal `p`. */
  readonly where?: string;
  /** The column is JSON and contains ids as texts. */
  readonly isJson?: true;
  /** No index leads to the rows, and the table is large: they are moved later. */
  readonly isLate?: true;
}

/** Found by an index, and in parts. */
const RUNS_OF_CREATOR = `t.id = ANY (ARRAY(
  SELECT r.id FROM runs r
  WHERE r.team_id = p.team_id AND r.creator_hash = filter_hash(p.id::text) AND r.creator_id = p.id
  ORDER BY r.updated_at DESC LIMIT 1000))`;
const OPEN_RUNS = `
  SELECT r.id FROM runs r
  WHERE r.team_id = p.team_id AND r.state IN ('QUEUED', 'PENDING', 'CLAIMED', 'INPROGRESS', 'BLOCKED')`;
const IS_OPEN = `t.id IN (${OPEN_RUNS})`;
const IS_OF_OPEN = `t.run_id IN (${OPEN_RUNS})`;
/** The entry of a decision in the audit log is written once. */
const IS_UNDECIDED = "t.approval ->> 'approved' IS NULL AND t.approval ->> 'decided' IS NULL";

/** The columns that name a principal, except those that are bound to it. A test compares them with the schema. */
export const REFERENCES: readonly Reference[] = [
  { table: "identities", column: "principal_id" },
  { table: "api_keys", column: "principal_id" },
  { table: "api_keys", column: "created_by" },
  { table: "sign_ins", column: "principal_id", where: "t.ended_at IS NULL" },
  { table: "sign_in_links", column: "principal_id", where: "t.used_at IS NULL" },
  { table: "device_codes", column: "principal_id" },
  { table: "installation_attempts", column: "principal_id" },
  { table: "share_links", column: "creator_id" },
  { table: "draft_comments", column: "author_id" },
  { table: "environments", column: "owner_id" },
  { table: "environments", column: "creator_id" },
  { table: "environments", column: "last_editor_id" },
  { table: "secrets", column: "editor_id" },
  { table: "mcp_servers", column: "creator_id" },
  { table: "schedules", column: "creator_id" },
  { table: "schedules", column: "last_editor_id" },
  { table: "policies", column: "creator_id" },
  { table: "policies", column: "match", isJson: true },
  { table: "routing_rules", column: "creator_id" },
  { table: "request_defaults", column: "editor_id" },
  { table: "adapter_settings", column: "updated_by" },
  { table: "webhook_endpoints", column: "created_by" },
  { table: "runs", column: "creator_id", where: RUNS_OF_CREATOR },
  { table: "run_queue", column: "principal_id" },
  { table: "runs", column: "executor_id", isLate: true },
  { table: "runs", column: "requester_id", isLate: true },
  { table: "runs", column: "permission", where: IS_OPEN, isJson: true },
  { table: "runs", column: "pause", where: IS_OPEN, isJson: true },
  { table: "runs", column: "waiting_follow_up", where: IS_OPEN, isJson: true },
  { table: "runs", column: "approval", where: `${IS_OPEN} AND ${IS_UNDECIDED}`, isJson: true },
  { table: "follow_ups", column: "author_id", where: IS_OF_OPEN },
  { table: "follow_ups", column: "author_id", isLate: true },
  { table: "follow_ups", column: "approval", where: `${IS_OF_OPEN} AND ${IS_UNDECIDED}`, isJson: true },
];

/** Moves the rows of one joined principal or, with those that are moved later, of all. Returns how many. */
export async function moveReferences(database: Statements, from: string | undefined): Promise<number> {
  let count = 0;
  for (const reference of REFERENCES) {
    if (from === undefined || reference.isLate !== true) {
      const text = statementOf(reference, from === undefined ? "" : "AND p.id = $1::uuid");
      const values = from === undefined ? [] : [from];
      count += await database.query((client) => client.$executeRawUnsafe(text, ...values));
    }
  }
  return count;
}

function statementOf({ column, isJson, table, where = "true" }: Reference, ofPrincipal: string): string {
  const [before, after] = [`'"' || p.id || '"'`, `'"' || p.joined_into || '"'`];
  const value = isJson ? `replace(t.${column}::text, ${before}, ${after})::jsonb` : "p.joined_into";
  const names = isJson ? `position(${before} IN t.${column}::text) > 0` : `t.${column} = p.id`;
  return `
    UPDATE ${table} t SET ${column} = ${value} FROM principals p
    WHERE p.joined_into IS NOT NULL AND p.disabled ${ofPrincipal} AND ${names} AND ${where}`;
}
