import { StorageUnavailable } from "../../src/core/basics/errors.ts";
import type { RunStore } from "../../src/core/ports/stores/run-store.ts";
import type { Storage } from "../../src/core/ports/stores/storage.ts";

/** How a change of a run fails: before anything is stored, or after everything is stored, with the answer lost. */
export interface ChangeFault {
  readonly when: "before" | "after";
  readonly error?: Error;
}

/** A storage whose changes of runs can be made to fail or to wait. */
export class StorageFaults {
  readonly storage: Storage;
  /** Each one fails one coming change. */
  readonly changes: ChangeFault[] = [];
  /** While true, the storage is unreachable. */
  isAway = false;
  /** Awaited before the next change begins. */
  readonly gates: Promise<void>[] = [];
  /** Awaited before the next read returns. */
  readonly lateLooks: Promise<void>[] = [];

  constructor(storage: Storage) {
    const { leases, runs } = storage;
    const change: RunStore["change"] = (id, decide) => this.#change(() => runs.change(id, decide));
    const changeOwn: RunStore["changeOwn"] = (id, decide, known) =>
      this.#change(() => runs.changeOwn(id, decide, known));
    this.storage = {
      ...storage,
      runs: {
        change,
        changeOwn,
        create: (origin, created) => runs.create(origin, created),
        remove: (id, check) => runs.remove(id, check),
        getAggregate: (id) => this.#look(() => runs.getAggregate(id)),
        find: (key) => runs.find(key),
        list: (query) => runs.list(query),
        findTurnEnd: (id) => runs.findTurnEnd(id),
        readEvents: (...args) => runs.readEvents(...args),
        readEventsBefore: (...args) => runs.readEventsBefore(...args),
        lastSeqBeforeTurn: (...args) => runs.lastSeqBeforeTurn(...args),
      },
      leases: {
        renew: (...args) => (this.isAway ? Promise.reject(away()) : leases.renew(...args)),
        listExpiring: (...args) => (this.isAway ? Promise.reject(away()) : leases.listExpiring(...args)),
      },
    };
  }

  async #look<T>(look: () => Promise<T>): Promise<T> {
    if (this.isAway) {
      throw away();
    }
    const seen = await look();
    await this.lateLooks.shift();
    return seen;
  }

  async #change<T>(change: () => Promise<T>): Promise<T> {
    await this.gates.shift();
    if (this.isAway) {
      throw away();
    }
    const fault = this.changes.shift();
    if (fault?.when === "before") {
      throw fault.error ?? away();
    }
    const changed = await change();
    if (fault !== undefined) {
      throw fault.error ?? away();
    }
    return changed;
  }
}

function away(): StorageUnavailable {
  return new StorageUnavailable("The database cannot be reached.");
}
