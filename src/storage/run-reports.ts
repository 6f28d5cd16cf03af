import type { RunId } from "../core/basics/ids.ts";
import type { Viewer } from "../core/model/people/principal.ts";
import type { RunSource } from "../core/model/runs/sources.ts";
import type { UsageGroup, UsageQuery, UsageRow } from "../core/model/usage/usage.ts";
import type { LastRuns, RunReports } from "../core/ports/stores/run-query.ts";
import type { Statements } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { type Nullable, withoutNulls } from "./rows.ts";
import { runOf } from "./run-columns.ts";
import { visibleTo } from "./run-filters.ts";

interface LastRow {
  readonly environmentId: string;
  readonly createdId: RunId;
  readonly startedAt: Date | null;
}

export class PrismaRunReports implements RunReports {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async lastRuns(viewer: Viewer, environmentIds: readonly string[]): Promise<ReadonlyMap<string, LastRuns>> {
    const rows = await this.#database.query((client) =>
      client.$queryRaw<LastRow[]>(lastRunsSql(viewer, environmentIds)),
    );
    const where = { id: { in: rows.map(({ createdId }) => createdId) } };
    const found = await this.#database.query((client) => client.run.findMany({ where }));
    const runs = new Map(found.map((row) => [row.id, runOf(row)]));
    const entries = rows.flatMap(({ environmentId, createdId, startedAt }) => {
      const created = runs.get(createdId);
      const started = startedAt === null ? {} : { startedAt };
      return created === undefined ? [] : [[environmentId, { created, ...started }] as const];
    });
    return new Map(entries);
  }

  async usage(query: UsageQuery): Promise<readonly UsageRow[]> {
    const rows = await this.#database.query((client) =>
      client.$queryRaw<(Nullable<UsageRow> & { readonly source?: RunSource | null })[]>(usageSql(query)),
    );
    return rows.map((row) => withoutNulls<UsageRow>(row));
  }
}

/** One short index scan for each environment and question, however many runs there are. */
function lastRunsSql(viewer: Viewer, environmentIds: readonly string[]): Prisma.Sql {
  const visible = visibleTo(viewer);
  return Prisma.sql`
    SELECT place.id AS "environmentId", created.id::text AS "createdId", begun.started_at AS "startedAt"
    FROM unnest(${[...environmentIds]}::text[]) AS place (id)
    CROSS JOIN LATERAL (
      SELECT id FROM runs WHERE environment_id = place.id AND ${visible}
      ORDER BY created_at DESC, id DESC LIMIT 1) AS created
    LEFT JOIN LATERAL (
      SELECT started_at FROM runs WHERE environment_id = place.id AND ${visible} AND started_at IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT 1) AS begun ON true`;
}

const GROUP_SQL: Readonly<Record<UsageGroup, { readonly column: Prisma.Sql; readonly name: Prisma.Sql }>> = {
  day: {
    column: Prisma.sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    name: Prisma.sql`"day"`,
  },
  source: { column: Prisma.sql`source`, name: Prisma.sql`"source"` },
  creator: { column: Prisma.sql`creator_id::text`, name: Prisma.sql`"creatorId"` },
  environment: { column: Prisma.sql`environment_id`, name: Prisma.sql`"environmentId"` },
  repository: { column: Prisma.sql`lower(config ->> 'repository')`, name: Prisma.sql`"repository"` },
  agent: { column: Prisma.sql`agent`, name: Prisma.sql`"agent"` },
  model: {
    column: Prisma.sql`coalesce(config #>> '{harness,model_id}', model_id)`,
    name: Prisma.sql`"model"`,
  },
};

const SECONDS_TO_RESULT = Prisma.sql`extract(epoch FROM ended_at - created_at)::float8`;

export function usageSql({ viewer, from, until, groups, limit }: UsageQuery): Prisma.Sql {
  const columns = groups.map((group) => Prisma.sql`${GROUP_SQL[group].column} AS ${GROUP_SQL[group].name},`);
  const places = groups.map((_group, index) => Prisma.raw(String(index + 1)));
  const grouped = Prisma.sql`GROUP BY ${Prisma.join(places)} ORDER BY ${Prisma.join(places)}`;
  return Prisma.sql`
    SELECT ${Prisma.join(columns, " ")}
      count(*)::int AS runs,
      count(*) FILTER (WHERE state = 'SUCCEEDED')::int AS succeeded,
      count(*) FILTER (WHERE state IN ('FAILED', 'ERROR'))::int AS failed,
      (count(*) FILTER (WHERE state = 'SUCCEEDED'))::float8
        / nullif(count(*) FILTER (WHERE state IN ('SUCCEEDED', 'FAILED', 'ERROR')), 0) AS "successRate",
      percentile_cont(0.5) WITHIN GROUP (ORDER BY ${SECONDS_TO_RESULT})
        FILTER (WHERE state = 'SUCCEEDED') AS "medianSecondsToResult",
      percentile_cont(0.95) WITHIN GROUP (ORDER BY ${SECONDS_TO_RESULT})
        FILTER (WHERE state = 'SUCCEEDED') AS "p95SecondsToResult",
      coalesce(sum(greatest(extract(epoch FROM coalesce(ended_at, clock_timestamp()) - started_at), 0)), 0)::float8
        AS "runSeconds",
      coalesce(sum(total_tokens), 0)::float8 AS "totalTokens",
      coalesce(sum(cost_usd), 0)::float8 AS "costUsd"
    FROM runs
    WHERE created_at >= ${from} AND created_at < ${until} AND prepares_only IS NOT TRUE AND ${visibleTo(viewer)}
    ${grouped} LIMIT ${limit}`;
}
