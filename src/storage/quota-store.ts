import { z } from "zod";
import type { TeamId } from "../core/basics/ids.ts";
import type { RunDefinition } from "../core/model/runs/run.ts";
import {
  QUOTA_NAMES,
  QUOTA_SCOPES,
  type Quota,
  type QuotaUse,
  quotaPeriods,
  requireWithinQuotas,
} from "../core/model/usage/quota.ts";
import type { QuotaCount, QuotaStore } from "../core/ports/stores/quota-store.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import type { Statements } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import type { MembersOf } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";
import { HAS_SLOT } from "./worker-store.ts";

const QUOTAS: z.ZodType<readonly Quota[]> = z.array(
  z.looseObject({
    name: z.enum(QUOTA_NAMES),
    scope: z.enum(QUOTA_SCOPES),
    limit: z.number(),
  } satisfies MembersOf<Quota>),
);

const { join, sql } = Prisma;

/** Quotas are a column of the team, so that the team's audit entries show them. */
export class PrismaQuotaStore implements QuotaStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(teamId: TeamId, count: QuotaCount): Promise<readonly QuotaUse[]> {
    const rows = await this.#database.query((client) =>
      client.team.findMany({ where: { id: teamId }, select: { quotas: true } }),
    );
    return usesOf(this.#database, teamId, quotasIn(teamId, rows), count);
  }

  async replace(teamId: TeamId, quotas: readonly Quota[]): Promise<boolean> {
    // NULL for none: the insert of runs looks only whether there are any.
    const stored = quotas.length === 0 ? Prisma.DbNull : quotas.map((quota) => ({ ...quota }));
    const { count } = await this.#database.query((client) =>
      client.team.updateMany({ where: { id: teamId }, data: { quotas: stored, updatedAt: new Date() } }),
    );
    return count > 0;
  }
}

/**
 * Throws if the new run would exceed a quota of its team. If the team has quotas, no other run of it is created until the
 * transaction ends. The lock and the count are two statements, because a statement does not see what was committed while
 * it waited.
 */
export async function requireQuotas(
  statements: Statements,
  { createdAt, teamId }: Pick<RunDefinition, "createdAt" | "teamId">,
  { apiKeyId }: Pick<RunChange, "apiKeyId">,
): Promise<void> {
  const rows = await statements.query(
    (client) => client.$queryRaw<{ quotas: Prisma.JsonValue }[]>`
      SELECT quotas FROM teams WHERE id = ${teamId}::uuid AND quotas IS NOT NULL FOR NO KEY UPDATE`,
  );
  const quotas = quotasIn(teamId, rows);
  requireWithinQuotas(await usesOf(statements, teamId, quotas, { at: createdAt, apiKeyId }));
}

function quotasIn(id: TeamId, [row]: readonly { readonly quotas: Prisma.JsonValue }[]): readonly Quota[] {
  const stored = row?.quotas ?? [];
  return parseJsonColumn(QUOTAS, stored, { table: "teams", id, column: "quotas" });
}

async function usesOf(
  statements: Statements,
  teamId: TeamId,
  quotas: readonly Quota[],
  count: QuotaCount,
): Promise<readonly QuotaUse[]> {
  if (quotas.length === 0) {
    return [];
  }
  const counts = quotas.map((quota) => sql`(${useSql(quota, teamId, count)})::float8`);
  const [row] = await statements.query(
    (client) => client.$queryRaw<{ used: number[] }[]>`SELECT ARRAY[${join(counts)}] AS used`,
  );
  return quotas.map((quota, index) => ({ ...quota, used: row?.used[index] ?? 0 }));
}

function useSql({ name, scope }: Quota, teamId: TeamId, { apiKeyId, at }: QuotaCount): Prisma.Sql {
  const { day, month } = quotaPeriods(at);
  switch (name) {
    case "running_runs":
      return sql`SELECT count(*) FROM runs WHERE team_id = ${teamId}::uuid AND ${HAS_SLOT}`;
    case "queued_runs":
      return sql`SELECT count(*) FROM runs WHERE team_id = ${teamId}::uuid AND state = 'QUEUED'`;
    case "runs_per_day": {
      const ofKey = scope === "key" ? sql`WHERE api_key_id = ${apiKeyId ?? null}::uuid` : Prisma.empty;
      return sql`SELECT count(*) FROM ${createdSince(teamId, day)} ${ofKey}`;
    }
    case "cost_usd_per_month":
      return sql`SELECT coalesce(sum(cost_usd), 0) FROM ${createdSince(teamId, month)}`;
    default:
      return name satisfies never;
  }
}

/** Deleted runs count too: otherwise a caller could use more by deleting runs. */
function createdSince(teamId: TeamId, start: Date): Prisma.Sql {
  const ofPeriod = sql`WHERE team_id = ${teamId}::uuid AND created_at >= ${start}`;
  return sql`(
    SELECT api_key_id, cost_usd FROM runs ${ofPeriod}
    UNION ALL SELECT api_key_id, cost_usd FROM deleted_run_uses ${ofPeriod}) AS created`;
}
