import type { RunWorker } from "./attempts/run-worker.ts";
import type { Log } from "./ports/log.ts";
import type { Queue } from "./ports/queue.ts";
import type { Storage } from "./ports/storage.ts";

export interface JanitorParts {
  readonly storage: Storage;
  readonly queue: Queue;
  readonly runWorker: RunWorker;
  readonly log: Log;
}

const ROUND_MAX = 100;

/** Finds what was left lying: runs of lost workers, and work whose job was lost. Any number may do it at once. */
export class Janitor {
  readonly #parts: JanitorParts;

  constructor(parts: JanitorParts) {
    this.#parts = parts;
  }

  async round(): Promise<void> {
    const { queue, runWorker, storage, log } = this.#parts;
    try {
      for (const runId of await storage.leases.listLost(ROUND_MAX)) await runWorker.recover(runId);
      for (const key of await storage.leases.listIdle(ROUND_MAX)) await queue.ensure({ kind: "run", key });
      for (const key of await storage.inbox.listOpenLanes(ROUND_MAX))
        await queue.ensure({ kind: "inbox", key });
      for (const key of await storage.outbox.listDue(ROUND_MAX)) await queue.ensure({ kind: "deliver", key });
    } catch (error) {
      // The next round is soon; the database may be away until then.
      log.warn("janitor.round.failed", { error });
    }
  }
}
