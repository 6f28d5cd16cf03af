import type { RunId } from "../core/basics/ids.ts";
import type { Viewer } from "../core/model/people/principal.ts";
import type { RunSource } from "../core/model/runs/sources.ts";
import { isEnded, RUN_STATES } from "../core/model/runs/states.ts";
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
  readonly #reportDatabase: Statements;

  constructor(database: Statements, reportDatabase = database) {
    this.#database = database;
    this.#reportDatabase = reportDatabase;
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
    const rows = await this.#reportDatabase.query((client) =>
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

const { join, sql } = Prisma;

interface GroupSql {
  /** Over the columns of `run_usage`. */
  readonly value: Prisma.Sql;
  /** The value as text, if it is none. */
  readonly text?: Prisma.Sql;
  readonly name: Prisma.Sql;
}

const DAY = sql`(created_at AT TIME ZONE 'UTC')::date`;
const GROUP_SQL: Readonly<Record<UsageGroup, GroupSql>> = {
  day: { value: DAY, text: sql`to_char(${DAY}, 'YYYY-MM-DD')`, name: sql`"day"` },
  source: { value: sql`source`, name: sql`"source"` },
  creator: { value: sql`creator_id`, text: sql`creator_id::text`, name: sql`"creatorId"` },
  environment: { value: sql`environment_id`, name: sql`"environmentId"` },
  repository: { value: sql`repository`, name: sql`"repository"` },
  agent: { value: sql`agent`, name: sql`"agent"` },
  model: { value: sql`model`, name: sql`"model"` },
};

const OPEN_STATES = RUN_STATES.filter((state) => !isEnded(state));

/** Open runs, which are few, in the columns of `run_usage`, which has the others. */
const OPEN_RUNS = sql`
  SELECT id, team_id, created_at, creator_id, team_owned, state, source, agent, lower(config ->> 'repository') AS repository,
    coalesce(config #>> '{harness,model_id}', model_id) AS model, environment_id,
    greatest((extract(epoch FROM clock_timestamp() - started_at) * 1000)::bigint, 0) AS run_ms, NULL::bigint AS result_ms,
    total_tokens, cost_usd
  FROM runs WHERE state IN (${join(OPEN_STATES)}) AND prepares_only IS NOT TRUE`;
const ENDED_RUNS = sql`
  SELECT run_id AS id, team_id, created_at, creator_id, team_owned, state, source, agent, repository,
    model, environment_id, run_ms, result_ms, total_tokens, cost_usd
  FROM run_usage WHERE true`;

export function usageSql({ viewer, from, until, groups, limit }: UsageQuery): Prisma.Sql {
  const columns = groups.map((group) => {
    const { name, text, value } = GROUP_SQL[group];
    return sql`${text ?? value} AS ${name},`;
  });
  const values = join(groups.map((group) => GROUP_SQL[group].value));
  const places = Prisma.raw(groups.map((_group, index) => index + 1).join(", "));
  const counts = sql`AND created_at >= ${from} AND created_at < ${until} AND ${visibleTo(viewer)}`;
  return sql`
    SELECT ${join(columns, " ")}
      count(*)::int AS runs,
      count(*) FILTER (WHERE state = 'SUCCEEDED')::int AS succeeded,
      count(*) FILTER (WHERE state IN ('FAILED', 'ERROR'))::int AS failed,
      (count(*) FILTER (WHERE state = 'SUCCEEDED'))::float8
        / nullif(count(*) FILTER (WHERE state IN ('SUCCEEDED', 'FAILED', 'ERROR')), 0) AS "successRate",
      percentile_cont(0.5) WITHIN GROUP (ORDER BY result_ms::float8) / 1000 AS "medianSecondsToResult",
      percentile_cont(0.95) WITHIN GROUP (ORDER BY result_ms::float8) / 1000 AS "p95SecondsToResult",
      sum(run_ms)::float8 / 1000 AS "runSeconds",
      sum(total_tokens)::float8 AS "totalTokens",
      coalesce(sum(cost_usd), 0)::float8 AS "costUsd"
    FROM (${ENDED_RUNS} ${counts} UNION ALL ${OPEN_RUNS} ${counts}) AS counted
    GROUP BY ${values} ORDER BY ${places} LIMIT ${limit}`;
}
