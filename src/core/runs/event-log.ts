import type { RunId } from "../ids.ts";
import type { Viewer } from "../people/principal.ts";
import type { RunEvent } from "./events.ts";

/**
 * The events of all runs in one order, in which nothing is ever put before what was already read: an event shows only
 * when nothing older can be committed any more. Within a run it is the order of the sequence numbers.
 */
export interface EventLog {
  /**
   * What comes behind `after`; with a viewer, of the runs they may see. At most `limit` events are looked at, and fewer when
   * they are long, as in `RunStore.readEvents`.
   */
  read(after: EventLogPosition, limit: number, viewer?: Viewer): Promise<EventLogPage>;
  /** The place behind everything that shows now. */
  end(): Promise<EventLogPosition>;
  /** Whether `place` can be of this log: not when the database was since put back to an earlier state. */
  knows(place: EventLogPosition): Promise<boolean>;
}

/** Behind this event everything is new. Made by the log and read by it alone. */
export interface EventLogPosition {
  readonly position: bigint;
  readonly runId: RunId;
  readonly seq: number;
}

export interface EventLogPage {
  readonly events: readonly LoggedEvent[];
  /** Behind all that was looked at. */
  readonly next: EventLogPosition;
  /** More is behind `next` and shows already. */
  readonly hasMore: boolean;
  /** Something is committed that cannot show yet: it soon will, without any news of it. */
  readonly isHeldBack: boolean;
}

export interface LoggedEvent {
  readonly event: RunEvent;
  readonly place: EventLogPosition;
}

const FIRST_RUN = "00000000-0000-0000-0000-000000000000" as RunId;
const LAST_RUN = "ffffffff-ffff-ffff-ffff-ffffffffffff" as RunId;
const LAST_SEQ = 2 ** 31 - 1;

export const EVENT_LOG_START: EventLogPosition = { position: -(2n ** 63n), runId: FIRST_RUN, seq: 0 };

/** The place behind everything up to and with `position`. */
export function positionAfter(position: bigint): EventLogPosition {
  return { position, runId: LAST_RUN, seq: LAST_SEQ };
}
