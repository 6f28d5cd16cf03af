import type { Viewer } from "../../core/people/principal.ts";
import {
  behind,
  type EventLog,
  type LoggedEvent,
  type LogPage,
  type LogPlace,
} from "../../core/ports/event-log.ts";
import { isVisible } from "../../core/runs/visibility.ts";
import type { MemoryStatements } from "./memory-database.ts";
import { withinLength } from "./within-length.ts";

/** The twin of the log. Transactions follow one another here, so nothing is ever held back. */
export class MemoryEventLog implements EventLog {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  read(after: LogPlace, limit: number, viewer?: Viewer): Promise<LogPage> {
    return this.#database.read(({ log, runs }) => {
      const open = log.filter(({ place }) => compare(place, after) > 0);
      const shows = ({ place }: LoggedEvent): boolean => {
        const run = runs.get(place.runId)?.run;
        return run !== undefined && (viewer === undefined || isVisible(run, viewer));
      };
      const looked = withinLength(open.slice(0, limit), (logged) =>
        shows(logged) ? logged.event : undefined,
      );
      const next = looked.at(-1)?.place ?? after;
      return { events: looked.filter(shows), next, hasMore: open.length > looked.length, isHeldBack: false };
    });
  }

  end(): Promise<LogPlace> {
    return this.#database.read(({ log }) => behind(BigInt(log.length) - 1n));
  }

  knows({ position }: LogPlace): Promise<boolean> {
    return this.#database.read(({ log }) => position < BigInt(log.length));
  }
}

function compare(a: LogPlace, b: LogPlace): number {
  if (a.position !== b.position) return a.position < b.position ? -1 : 1;
  if (a.runId !== b.runId) return a.runId < b.runId ? -1 : 1;
  return a.seq - b.seq;
}
