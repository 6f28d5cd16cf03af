import { defined } from "../../../../src/core/basics/defined.ts";
import type { LiveWorker, Worker } from "../../../../src/core/model/workers/worker.ts";
import type { HostLoad, WorkerStore } from "../../../../src/core/ports/stores/worker-store.ts";
import { LIVE_SECONDS } from "../../../../src/storage/worker-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { RunRow, Tables } from "./tables.ts";

export class InMemoryWorkerStore implements WorkerStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  beat(worker: Worker): Promise<void> {
    return this.#database.transaction(({ tables: { workers }, now }) => {
      const known = workers.get(worker.id) ?? { ...worker, startedAt: new Date(now) };
      const { diskUse: _, starts: __, ...registered } = known;
      const reported = defined({ diskUse: worker.diskUse, starts: worker.starts });
      workers.set(worker.id, { ...registered, ...reported, lastSeenAt: new Date(now) });
    });
  }

  remove(id: string, silentMs = 0): Promise<void> {
    return this.#database.transaction(({ tables: { workers }, now }) => {
      if ((workers.get(id)?.lastSeenAt.getTime() ?? 0) <= now - silentMs) {
        workers.delete(id);
      }
    });
  }

  listLive(): Promise<readonly LiveWorker[]> {
    return this.#database.read(liveOf);
  }

  listLoads(): Promise<readonly HostLoad[]> {
    return this.#database.read((tables, now) => {
      const groups = Map.groupBy(liveOf(tables, now), ({ host }) => host);
      return Array.from(groups, ([host, workers]) => ({
        ...(host === undefined ? {} : { host }),
        ...crowdedSlotsOf(workers.filter((worker) => !takesRuns(worker))),
        slots: workers.reduce((sum, { slots }) => sum + slots, 0),
        taken: workers.reduce((sum, { id, slots }) => sum + Math.min(slots, heldBy(tables, id)), 0),
      }));
    });
  }
}

/** Whether a live worker of this data directory takes one more run, with the name that the run asks for. */
export function hasRoom(tables: Tables, now: number, disk: string, host: string | undefined): boolean {
  const able = liveOf(tables, now).filter(
    (worker) => worker.disk === disk && takesRuns(worker) && (host === undefined || worker.host === host),
  );
  return able.some(({ id, slots }) => heldBy(tables, id) < slots);
}

function takesRuns({ diskUse }: Worker): boolean {
  return diskUse?.takesRuns !== false;
}

function crowdedSlotsOf(crowded: readonly Worker[]): Pick<HostLoad, "crowdedSlots"> {
  return crowded.length === 0 ? {} : { crowdedSlots: crowded.reduce((sum, { slots }) => sum + slots, 0) };
}

function heldBy({ runs }: Tables, id: string): number {
  return [...runs.values()].filter((row) => hasSlot(row) && row.run.lease?.worker === id).length;
}

export function hasSlot({ run }: RunRow): boolean {
  return run.lease !== undefined && run.state !== "BLOCKED" && run.debugUntil === undefined;
}

function liveOf({ workers }: Tables, now: number): readonly LiveWorker[] {
  const live = [...workers.values()].filter(
    ({ lastSeenAt }) => lastSeenAt.getTime() > now - LIVE_SECONDS * 1_000,
  );
  return live.sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime() || (a.id < b.id ? -1 : 1));
}
