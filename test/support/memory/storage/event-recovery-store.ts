import type { EventRecoveryStore } from "../../../../src/core/ports/stores/event-log.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemoryEventRecoveryStore implements EventRecoveryStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  begin(adapter: string, gapMs: number): Promise<{ readonly cursor: string | undefined } | undefined> {
    return this.#database.transaction(({ now, tables: { eventRecoveries } }) => {
      const last = eventRecoveries.get(adapter);
      if (last !== undefined && last.begunAt > now - gapMs) {
        return undefined;
      }
      eventRecoveries.set(adapter, { ...last, begunAt: now });
      return { cursor: last?.cursor };
    });
  }

  advance(adapter: string, cursor: string): Promise<void> {
    return this.#database.transaction(({ now, tables: { eventRecoveries } }) => {
      eventRecoveries.set(adapter, { begunAt: now, ...eventRecoveries.get(adapter), cursor });
    });
  }

  listStored(adapter: string, deliveryIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#database.read(({ inbox }) => {
      const stored = [...inbox.values()].filter(({ event }) => event.adapter === adapter);
      const known = stored.map(({ event }) => event.deliveryId);
      return new Set(known.filter((id) => deliveryIds.includes(id)));
    });
  }
}
