import type { Viewer } from "../../../../src/core/model/people/principal.ts";
import { isVisible } from "../../../../src/core/model/policies/visibility.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type { UsageGroup, UsageQuery, UsageRow } from "../../../../src/core/model/usage/usage.ts";
import type { LastRuns, RunReports } from "../../../../src/core/ports/stores/run-query.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

export class InMemoryRunReports implements RunReports {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  lastRuns(viewer: Viewer, environmentIds: readonly string[]): Promise<ReadonlyMap<string, LastRuns>> {
    return this.#database.read((tables) => {
      const runs = visibleRuns(tables, viewer);
      return new Map(environmentIds.flatMap((id) => lastEntry(runs, id)));
    });
  }

  usage({ viewer, from, until, groups, limit }: UsageQuery): Promise<readonly UsageRow[]> {
    return this.#database.read((tables, now) => {
      const runs = visibleRuns(tables, viewer).filter(
        ({ createdAt, preparesOnly }) => preparesOnly !== true && createdAt >= from && createdAt < until,
      );
      const grouped = Map.groupBy(runs, (run) =>
        JSON.stringify(groups.map((group) => VALUES[group](run) ?? null)),
      );
      const sorted = [...grouped].sort(([left], [right]) => (left < right ? -1 : 1)).slice(0, limit);
      return sorted.map(([, members]) => rowOf(members, groups, now));
    });
  }
}

/** Newest first. */
function visibleRuns({ runs }: Tables, viewer: Viewer): readonly Run[] {
  const visible = Array.from(runs.values(), ({ run }) => run).filter((run) => isVisible(run, viewer));
  return visible.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
}

function lastEntry(runs: readonly Run[], id: string): readonly (readonly [string, LastRuns])[] {
  const there = runs.filter(({ config }) => config.environment_id === id);
  const [created] = there;
  const startedAt = there.find((run) => run.startedAt !== undefined)?.startedAt;
  return created === undefined ? [] : [[id, { created, ...(startedAt === undefined ? {} : { startedAt }) }]];
}

const MEMBERS = {
  day: "day",
  source: "source",
  creator: "creatorId",
  environment: "environmentId",
  repository: "repository",
  agent: "agent",
  model: "model",
} as const satisfies Readonly<Record<UsageGroup, keyof UsageRow>>;

const VALUES: Readonly<Record<UsageGroup, (run: Run) => string | undefined>> = {
  day: ({ createdAt }) => createdAt.toISOString().slice(0, 10),
  source: ({ source }) => source,
  creator: ({ creatorId }) => creatorId,
  environment: ({ config }) => config.environment_id,
  repository: ({ config }) => config.repository?.toLowerCase(),
  agent: ({ agent }) => agent,
  model: ({ config }) => config.harness?.model_id ?? config.model_id,
};

function rowOf(runs: readonly Run[], groups: readonly UsageGroup[], now: number): UsageRow {
  const named = groups.map((group) => [MEMBERS[group], runs[0] && VALUES[group](runs[0])] as const);
  const isFailed = ({ state }: Run) => state === "FAILED" || state === "ERROR";
  const succeeded = runs.filter(({ state }) => state === "SUCCEEDED");
  const ended = succeeded.length + runs.filter(isFailed).length;
  const sum = (value: (run: Run) => number) => runs.reduce((total, run) => total + value(run), 0);
  return {
    ...Object.fromEntries(named.filter(([, value]) => value !== undefined)),
    runs: runs.length,
    succeeded: succeeded.length,
    failed: ended - succeeded.length,
    ...(ended === 0 ? {} : { successRate: succeeded.length / ended }),
    ...timesToResult(succeeded),
    runSeconds: sum((run) => secondsOf(run, now)),
    totalTokens: sum(({ totalTokens }) => totalTokens),
    costUsd: sum(({ costUsd = 0 }) => costUsd),
  };
}

function secondsOf({ startedAt, endedAt }: Run, now: number): number {
  if (startedAt === undefined) {
    return 0;
  }
  return Math.max(0, (endedAt?.getTime() ?? now) - startedAt.getTime()) / 1_000;
}

function timesToResult(runs: readonly Run[]): Pick<UsageRow, "medianSecondsToResult" | "p95SecondsToResult"> {
  const seconds = runs
    .flatMap(({ createdAt, endedAt }) => (endedAt ? [endedAt.getTime() - createdAt.getTime()] : []))
    .map((ms) => ms / 1_000)
    .toSorted((a, b) => a - b);
  const [median, p95] = [percentile(seconds, 0.5), percentile(seconds, 0.95)];
  return median === undefined || p95 === undefined
    ? {}
    : { medianSecondsToResult: median, p95SecondsToResult: p95 };
}

/** Interpolated between the two nearest values, as PostgreSQL does. */
function percentile(sorted: readonly number[], fraction: number): number | undefined {
  const place = fraction * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === undefined || above === undefined ? undefined : below + (above - below) * (place % 1);
}
