import type { PrincipalId, RunId, TeamId } from "../../../../src/core/basics/ids.ts";
import { QUEUE_CLASSES, RUN_PRIORITIES } from "../../../../src/core/model/runs/queue-class.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type {
  ClaimStore,
  NextRun,
  NothingNext,
  WantedClaim,
} from "../../../../src/core/ports/stores/claim-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { QueuedRun, Tables } from "./tables.ts";
import { hasRoom, hasSlot } from "./worker-store.ts";

const RESERVED_MS = 5_000;
const PREFER_MS = 2_000;
const LONG_WAIT_MS = 3_600_000;

export class InMemoryClaimStore implements ClaimStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  reserveNext(claim: WantedClaim): Promise<NextRun | NothingNext> {
    return this.#database.transaction(({ tables, now }) => {
      const next = nextOf(tables, now, claim);
      if (next === undefined) {
        return waitingRuns(tables).length === 0 ? "empty" : "later";
      }
      const { creatorId, id, teamId } = next;
      const heads = tables.queueHeads;
      // Later than each claim before, also while the clock stands still.
      const claimedAt = 1 + Math.max(now, ...heads.values());
      heads.set(teamId, claimedAt);
      heads.set(memberKey(teamId, creatorId), claimedAt);
      tables.queue.set(id, { ...tables.queue.get(id), reservedUntil: now + RESERVED_MS });
      const runningMax = runningMaxOf(tables, teamId);
      return { id, ...(runningMax === undefined ? {} : { runningMax }) };
    });
  }

  release(runId: RunId, heldFor?: { readonly disk: string; readonly ms: number }): Promise<void> {
    return this.#database.transaction(({ tables, now }) => {
      const { reservedUntil: _, ...row } = tables.queue.get(runId) ?? {};
      const held = heldFor && { disk: heldFor.disk, othersAfter: now + heldFor.ms };
      tables.queue.set(runId, { ...row, ...held });
    });
  }

  listTeamsAtQuota(): Promise<readonly TeamId[]> {
    return this.#database.read((tables) =>
      [...tables.quotas.keys()].filter(
        (teamId) => runningOf(tables, teamId) >= (runningMaxOf(tables, teamId) ?? Infinity),
      ),
    );
  }

  countWaiting(): Promise<ReadonlyMap<string, number>> {
    return this.#database.transaction(({ tables, now }) => {
      const counted = waitingRuns(tables).filter(
        ({ startAfter, teamId }) =>
          (startAfter?.getTime() ?? 0) <= now &&
          runningOf(tables, teamId) < (runningMaxOf(tables, teamId) ?? Infinity),
      );
      const byHost = Map.groupBy(counted, ({ config }) => config.worker_host ?? "");
      return new Map(Array.from(byHost, ([host, runs]) => [host, runs.length]));
    });
  }

  positionOf(runId: RunId): Promise<number | undefined> {
    return this.#database.read((tables) => {
      const own = waitingRuns(tables).find(({ id }) => id === runId);
      const beside = waitingRuns(tables).filter(
        ({ config, creatorId }) =>
          creatorId === own?.creatorId && config.worker_host === own.config.worker_host,
      );
      return own && beside.sort(byPlace).indexOf(own) + 1;
    });
  }
}

function waitingRuns(tables: Tables): Run[] {
  return [...tables.runs.values()].map(({ run }) => run).filter(waits);
}

/** In the order in which one member's runs start. */
function byPlace(a: Run, b: Run): number {
  return orderOf(a) - orderOf(b) || byTime(a, b);
}

function byTime(a: Run, b: Run): number {
  return a.stateSince.getTime() - b.stateSince.getTime() || (a.id < b.id ? -1 : 1);
}

/** What the trigger of `runs` does. */
export function queueRun({ queue }: Tables, now: number, before: Run | undefined, after: Run): void {
  if (!waits(after)) {
    queue.delete(after.id);
  } else if (before === undefined || !waits(before)) {
    const { disk } = after;
    queue.set(after.id, disk === undefined ? {} : { disk, othersAfter: now + PREFER_MS });
  }
}

function nextOf(tables: Tables, now: number, claim: WantedClaim): Run | undefined {
  const queued = waitingRuns(tables);
  const used = (teamId: TeamId) =>
    runningOf(tables, teamId) +
    queued.filter((run) => run.teamId === teamId && isReserved(tables, now, run)).length;
  const claimedAt = (key: string) => tables.queueHeads.get(key) ?? -1;
  const teams = [...new Set(queued.map(({ teamId }) => teamId))]
    .filter((teamId) => used(teamId) < (runningMaxOf(tables, teamId) ?? Infinity))
    .sort((a, b) => used(a) - used(b) || claimedAt(a) - claimedAt(b));
  for (const teamId of teams) {
    const ready = queued.filter((run) => run.teamId === teamId && isReady(tables, now, claim, run));
    const usedBy = (creatorId: PrincipalId) =>
      [...tables.runs.values()].filter(
        (row) =>
          row.run.teamId === teamId &&
          row.run.creatorId === creatorId &&
          (hasSlot(row) || (waits(row.run) && isReserved(tables, now, row.run))),
      ).length;
    const [next] = ready.sort(
      (a, b) =>
        classOf(a, now) - classOf(b, now) ||
        usedBy(a.creatorId) - usedBy(b.creatorId) ||
        claimedAt(memberKey(teamId, a.creatorId)) - claimedAt(memberKey(teamId, b.creatorId)) ||
        byTime(a, b),
    );
    if (next !== undefined) {
      return next;
    }
  }
  return undefined;
}

function isReady(tables: Tables, now: number, { disk, except, host }: WantedClaim, run: Run): boolean {
  const row: QueuedRun = tables.queue.get(run.id) ?? {};
  const wanted = run.config.worker_host;
  const isLeft = row.disk !== undefined && row.disk !== disk && (row.othersAfter ?? 0) > now;
  return (
    (wanted === undefined || wanted === host) &&
    !except.includes(run.id) &&
    !isReserved(tables, now, run) &&
    (run.startAfter?.getTime() ?? 0) <= now &&
    !(isLeft && row.disk !== undefined && hasRoom(tables, now, row.disk, wanted))
  );
}

function isReserved({ queue }: Tables, now: number, { id }: Run): boolean {
  return (queue.get(id)?.reservedUntil ?? 0) > now;
}

/** By priority, then by class. */
function orderOf({ config: { priority = "normal" }, queueClass = QUEUE_CLASSES.api }: Run): number {
  return 3 * RUN_PRIORITIES.indexOf(priority) + queueClass;
}

/** A run that has waited for long counts no priority below normal, and no class below the API's. */
function classOf(run: Run, now: number): number {
  if (run.stateSince.getTime() >= now - LONG_WAIT_MS) {
    return orderOf(run);
  }
  const { config, queueClass = QUEUE_CLASSES.api } = run;
  const priority = config.priority === "low" ? "normal" : (config.priority ?? "normal");
  return orderOf({
    ...run,
    config: { ...config, priority },
    queueClass: Math.min(queueClass, QUEUE_CLASSES.api),
  });
}

function memberKey(teamId: TeamId, creatorId: PrincipalId): string {
  return `${teamId} ${creatorId}`;
}

function waits({ lease, state }: Run): boolean {
  return state === "QUEUED" && lease === undefined;
}

export function runningOf({ runs }: Tables, teamId: TeamId): number {
  return [...runs.values()].filter((row) => row.run.teamId === teamId && hasSlot(row)).length;
}

function runningMaxOf({ quotas }: Tables, teamId: TeamId): number | undefined {
  return quotas.get(teamId)?.find(({ name }) => name === "running_runs")?.limit;
}
