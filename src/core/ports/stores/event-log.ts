import type { RunId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { RunEvent } from "../../model/runs/events.ts";

/**
 * The events of all runs in one order. No event ever appears before one that was already read: an event becomes
 * visible only when no older event can still be committed. Within a run the order is that of the sequence numbers.
 */
export interface EventLog {
  /**
   * The events after `after`, with a viewer only those of visible runs. Reads at most `limit` events, and fewer when
   * they are long, like `RunStore.readEvents`.
   */
  read(after: EventLogPosition, limit: number, viewer?: Viewer): Promise<EventLogPage>;
  /** The position after all events that are visible now. */
  end(): Promise<EventLogPosition>;
  /** Whether `position` can belong to this log. False after the database was restored to an earlier state. */
  knows(position: EventLogPosition): Promise<boolean>;
}

/** All events after this position are new. Only the log creates and reads positions. */
export interface EventLogPosition {
  readonly position: bigint;
  readonly runId: RunId;
  readonly seq: number;
}

export interface EventLogPage {
  readonly events: readonly LoggedEvent[];
  /** The position after all events that were read. */
  readonly next: EventLogPosition;
  /** More events are visible after `next`. */
  readonly hasMore: boolean;
  /** An event is committed but not visible yet. It will be soon, without a notification. */
  readonly isHeldBack: boolean;
}

export interface LoggedEvent {
  readonly event: RunEvent;
  readonly position: EventLogPosition;
}

const FIRST_RUN = "00000000-0000-0000-0000-000000000000" as RunId;
const LAST_RUN = "ffffffff-ffff-ffff-ffff-ffffffffffff" as RunId;
const LAST_SEQ = 2 ** 31 - 1;

export const EVENT_LOG_START: EventLogPosition = { position: -(2n ** 63n), runId: FIRST_RUN, seq: 0 };

/** The position after all events up to and including `position`. */
export function positionAfter(position: bigint): EventLogPosition {
  return { position, runId: LAST_RUN, seq: LAST_SEQ };
}

/** When each adapter last looked for lost events, and how far it came. */
export interface EventRecoveryStore {
  /**
   * Begins a search for the lost events of an adapter and returns what the last one stored. Undefined if a search began
   * less than `gapMs` ago, in any process.
   */
  begin(adapter: string, gapMs: number): Promise<{ readonly cursor: string | undefined } | undefined>;
  /** Stores how far the search came. */
  advance(adapter: string, cursor: string): Promise<void>;
  /** Which of these deliveries are stored as inbox events. */
  listStored(adapter: string, deliveryIds: readonly string[]): Promise<ReadonlySet<string>>;
}
