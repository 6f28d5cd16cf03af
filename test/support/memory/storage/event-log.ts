import type { Viewer } from "../../../../src/core/model/people/principal.ts";
import { isVisible } from "../../../../src/core/model/policies/visibility.ts";
import {
  type EventLog,
  type EventLogPage,
  type EventLogPosition,
  type LoggedEvent,
  positionAfter,
} from "../../../../src/core/ports/stores/event-log.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { withinLength } from "./within-length.ts";

/** An in-memory fake of the log. Transactions run one after another, so no event is ever held back. */
export class InMemoryEventLog implements EventLog {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  read(after: EventLogPosition, limit: number, viewer?: Viewer): Promise<EventLogPage> {
    return this.#database.read(({ log, runs }) => {
      const open = log.filter(({ position: place }) => compare(place, after) > 0);
      const shows = ({ position: place }: LoggedEvent): boolean => {
        const run = runs.get(place.runId)?.run;
        return run !== undefined && (viewer === undefined || isVisible(run, viewer));
      };
      const looked = withinLength(open.slice(0, limit), (logged) =>
        shows(logged) ? logged.event : undefined,
      );
      const next = looked.at(-1)?.position ?? after;
      return { events: looked.filter(shows), next, hasMore: open.length > looked.length, isHeldBack: false };
    });
  }

  end(): Promise<EventLogPosition> {
    return this.#database.read(({ log }) => positionAfter(BigInt(log.length) - 1n));
  }

  knows({ position }: EventLogPosition): Promise<boolean> {
    return this.#database.read(({ log }) => position < BigInt(log.length));
  }
}

function compare(a: EventLogPosition, b: EventLogPosition): number {
  if (a.position !== b.position) {
    return a.position < b.position ? -1 : 1;
  }
  if (a.runId !== b.runId) {
    return a.runId < b.runId ? -1 : 1;
  }
  return a.seq - b.seq;
}
