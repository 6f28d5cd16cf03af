import type { Clock } from "../../basics/clock.ts";
import { newId } from "../../basics/ids.ts";
import type { Log } from "../../basics/log.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { ReceivedEvent } from "../../ports/thread-adapter.ts";

/** What a platform knows about the deliveries that did not arrive here. */
export interface LostEvents {
  /**
   * Reads the deliveries that were not acknowledged, in steps of a few calls. `cursor` is that of the last step of an
   * earlier search, of any process. The events of a step are in the order in which they happened.
   */
  find(
    cursor: string | undefined,
    listStored: (deliveryIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ): AsyncIterable<RecoveryStep>;
}

export interface RecoveryStep {
  readonly events: readonly ReceivedEvent[];
  /** Where the next search continues. Only the adapter reads it. */
  readonly cursor: string;
}

export interface EventRecoveryDeps {
  /** By the name of the adapter. */
  readonly lostEvents: ReadonlyMap<string, LostEvents>;
  readonly storage: Pick<Storage, "eventRecoveries" | "inbox">;
  readonly clock: Clock;
  readonly log: Log;
}

const EVERY_MS = 3 * 60_000;
/** A search that is not done by then is continued by the next one. */
const SEARCH_MAX_MS = 45_000;

/** Finds events that a platform sent while no process took them, and stores them as if they had just arrived. */
export class EventRecovery {
  readonly #deps: EventRecoveryDeps;

  constructor(deps: EventRecoveryDeps) {
    this.#deps = deps;
  }

  /** Searches at once, because events may have come while no process ran. */
  start(): Promise<void> {
    return this.#searchAll(0);
  }

  /** Searches unless another process has begun in the last minutes. */
  round(): Promise<void> {
    return this.#searchAll(EVERY_MS);
  }

  async #searchAll(gapMs: number): Promise<void> {
    const { log, lostEvents } = this.#deps;
    for (const [adapter, lost] of lostEvents) {
      await this.#search(adapter, lost, gapMs).catch((error) => {
        log.warn("inbox.recovery.failed", { adapter, error });
      });
    }
  }

  async #search(adapter: string, lost: LostEvents, gapMs: number): Promise<void> {
    const { clock, storage } = this.#deps;
    const begun = await storage.eventRecoveries.begin(adapter, gapMs);
    if (begun === undefined) {
      return;
    }
    const until = clock.elapsedMs() + SEARCH_MAX_MS;
    const listStored = (ids: readonly string[]) => storage.eventRecoveries.listStored(adapter, ids);
    for await (const { cursor, events } of lost.find(begun.cursor, listStored)) {
      for (const event of events) {
        await this.#take(event);
      }
      await storage.eventRecoveries.advance(adapter, cursor);
      if (clock.elapsedMs() > until) {
        return;
      }
    }
  }

  async #take(event: ReceivedEvent): Promise<void> {
    const { clock, log, storage } = this.#deps;
    const receivedAt = clock.now();
    const isNew = await storage.inbox.put({ ...event, id: newId(receivedAt), receivedAt });
    if (isNew) {
      const { adapter, deliveryId, name } = event;
      log.info("inbox.event.recovered", { adapter, deliveryId, name });
    }
  }
}
