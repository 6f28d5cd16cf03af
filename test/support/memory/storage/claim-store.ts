import type { TeamId } from "../../../../src/core/basics/ids.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type {
  ClaimStore,
  NextRun,
  WaitingRun,
  WantedClaim,
} from "../../../../src/core/ports/stores/claim-store.ts";
import { isFor } from "../../../../src/core/runs/run-job.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";
import { hasSlot } from "./worker-store.ts";

interface Candidate {
  readonly teamId: TeamId;
  readonly run: Run;
  readonly running: number;
  readonly runningMax: number | undefined;
}

export class InMemoryClaimStore implements ClaimStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  next(claim: WantedClaim): Promise<NextRun | undefined> {
    return this.#database.transaction(({ tables, now }) => {
      const job = waitingRuns(tables).find(
        ({ config, id }) => id === claim.runId && isFor({ config }, claim.host) && !claim.except.includes(id),
      );
      if (job === undefined) {
        return undefined;
      }
      const able = candidatesOf(tables, now, { ...claim, job });
      const claimedAt = ({ teamId }: Candidate) => tables.teamClaims.get(teamId) ?? -1;
      const isOther = ({ teamId }: Candidate) => Number(teamId !== job.teamId);
      const [chosen] = able.toSorted(
        (a, b) => a.running - b.running || claimedAt(a) - claimedAt(b) || isOther(a) - isOther(b),
      );
      if (chosen !== undefined && able.length > 1) {
        // Later than each claim before, also while the clock stands still.
        tables.teamClaims.set(chosen.teamId, 1 + Math.max(now, ...tables.teamClaims.values()));
      }
      const isPassedOver = chosen?.run !== job && able.some(({ run }) => run === job);
      return chosen && nextOf(chosen, isPassedOver ? job : undefined);
    });
  }

  firstWaiting(teamId: TeamId, host: string | undefined): Promise<WaitingRun | undefined> {
    return this.#database.read((tables) => {
      const first = waitingRuns(tables).find((run) => run.teamId === teamId && isFor(run, host));
      return first && !isAtQuota(tables, teamId) ? waitingRunOf(first) : undefined;
    });
  }

  listTeamsAtQuota(): Promise<readonly TeamId[]> {
    return this.#database.read((tables) =>
      [...tables.quotas.keys()].filter((teamId) => isAtQuota(tables, teamId)),
    );
  }
}

function candidatesOf(
  tables: Tables,
  now: number,
  { disk, except, host, job, preferMs }: WantedClaim & { readonly job: Run },
): readonly Candidate[] {
  const isReady = (run: Run) =>
    !except.includes(run.id) &&
    (run.disk === undefined || run.disk === disk || queuedAt(run).getTime() < now - preferMs);
  const byTeam = Map.groupBy(waitingRuns(tables), ({ teamId }) => teamId);
  return Array.from(byTeam, ([teamId, runs]) => ({
    teamId,
    run: teamId === job.teamId ? job : runs.find((run) => isFor(run, host) && isReady(run)),
    running: runningOf(tables, teamId),
    runningMax: runningMaxOf(tables, teamId),
  })).filter(
    (team): team is Candidate => team.run !== undefined && team.running < (team.runningMax ?? Infinity),
  );
}

function nextOf({ run, runningMax }: Candidate, passedOver: Run | undefined): NextRun {
  return {
    id: run.id,
    ...(runningMax === undefined ? {} : { runningMax }),
    ...(passedOver === undefined ? {} : { passedOver: waitingRunOf(passedOver) }),
  };
}

function waitingRunOf(run: Run): WaitingRun {
  return { id: run.id, config: run.config, queuedAt: queuedAt(run) };
}

/** A new run has been queued since its creation. */
function queuedAt({ stateSince }: Run): Date {
  return stateSince;
}

/** The run that was queued first comes first. */
function waitingRuns({ runs }: Tables): readonly Run[] {
  const waiting = [...runs.values()]
    .map(({ run }) => run)
    .filter(({ lease, state }) => state === "QUEUED" && lease === undefined);
  return waiting.sort((a, b) => queuedAt(a).getTime() - queuedAt(b).getTime());
}

export function runningOf({ runs }: Tables, teamId: TeamId): number {
  return [...runs.values()].filter((row) => row.run.teamId === teamId && hasSlot(row)).length;
}

function runningMaxOf({ quotas }: Tables, teamId: TeamId): number | undefined {
  return quotas.get(teamId)?.find(({ name }) => name === "running_runs")?.limit;
}

export function isAtQuota(tables: Tables, teamId: TeamId): boolean {
  return runningOf(tables, teamId) >= (runningMaxOf(tables, teamId) ?? Infinity);
}
