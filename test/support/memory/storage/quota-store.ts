import type { TeamId } from "../../../../src/core/basics/ids.ts";
import { type Quota, type QuotaUse, quotaPeriods } from "../../../../src/core/model/usage/quota.ts";
import type { QuotaCount, QuotaStore } from "../../../../src/core/ports/stores/quota-store.ts";
import { runningOf } from "./claim-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { RunRow, Tables } from "./tables.ts";

export class InMemoryQuotaStore implements QuotaStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  list(teamId: TeamId, count: QuotaCount): Promise<readonly QuotaUse[]> {
    return this.#database.read((tables) =>
      quotaUses(tables, teamId, count).map((use) =>
        use.name === "running_runs" ? { ...use, used: runningOf(tables, teamId) } : use,
      ),
    );
  }

  replace(teamId: TeamId, quotas: readonly Quota[]): Promise<boolean> {
    return this.#database.transaction(({ tables }) => {
      tables.quotas.set(teamId, quotas);
      return tables.teams.has(teamId);
    });
  }
}

export function quotaUses(
  { deletedRuns, quotas, runs }: Tables,
  teamId: TeamId,
  count: QuotaCount,
): readonly QuotaUse[] {
  const ofTeam = (rows: Iterable<RunRow>) => [...rows].filter(({ run }) => run.teamId === teamId);
  const [current, deleted] = [ofTeam(runs.values()), ofTeam(deletedRuns.values())];
  return (quotas.get(teamId) ?? []).map((quota) => {
    const counted = quota.name === "queued_runs" ? current : [...current, ...deleted];
    return { ...quota, used: useOf(quota, counted, count) };
  });
}

function useOf({ name, scope }: Quota, runs: readonly RunRow[], { apiKeyId, at }: QuotaCount): number {
  const { day, month } = quotaPeriods(at);
  switch (name) {
    case "queued_runs":
      return runs.filter(({ run }) => run.state === "QUEUED").length;
    case "runs_per_day": {
      const counted = runs.filter((row) => scope === "team" || (apiKeyId && row.apiKeyId === apiKeyId));
      return counted.filter(({ run }) => run.createdAt >= day).length;
    }
    // Counted by the caller, because it depends on leases. The creation of a run does not count it.
    case "running_runs":
      return 0;
    case "cost_usd_per_month": {
      const ofMonth = runs.filter(({ run }) => run.createdAt >= month);
      return ofMonth.reduce((sum, { run }) => sum + (run.costUsd ?? 0), 0);
    }
    default:
      return name satisfies never;
  }
}
