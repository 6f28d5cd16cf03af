import type { RunId } from "../../basics/ids.ts";
import type { RunEvent, RunEventKind } from "../../model/runs/events.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { Run, RunDefinition } from "../../model/runs/run.ts";
import type { Thread } from "../../model/threads/thread.ts";
import type { RunChange } from "./run-change.ts";
import type { RunPage, RunQuery } from "./run-query.ts";

/** Stores runs with their logs and follow-ups. */
export interface RunStore {
  /** Stores a new run with everything it causes. Throws `UniqueConflict`. */
  create(origin: RunDefinition, change: RunChange): Promise<Run>;
  /**
   * The only way to change a run: calls `decide` with the run, and stores the decision if the run has not changed
   * since. Otherwise it calls `decide` again. `decide` may throw (nothing is stored) or return undefined (nothing
   * changes). Throws `resource_not_found` or `UniqueConflict`.
   */
  change(id: RunId, decide: (aggregate: RunAggregate) => RunChange | undefined): Promise<Run>;
  /**
   * `change` for the attempt that works on the run. It decides with `known` instead of reading the run, unless the run has
   * changed since. It does not notify the attempt itself.
   */
  changeOwn(
    id: RunId,
    decide: (aggregate: RunAggregate) => RunChange | undefined,
    known: RunAggregate | undefined,
  ): Promise<OwnChange>;
  /**
   * Deletes a run with everything that belongs to it, unless `check` throws. Its threads have no run afterwards. Blobs
   * that another run uses stay. Throws `resource_not_found`.
   */
  remove(id: RunId, check: (run: Run) => void): Promise<void>;
  /** What `change` would pass to `decide` now. Throws `resource_not_found`. */
  getAggregate(id: RunId): Promise<RunAggregate>;
  find(key: RunKey): Promise<Run | undefined>;
  list(query: RunQuery): Promise<RunPage>;
  /** The event of the last turn that the agent ended itself. */
  findTurnEnd(id: RunId): Promise<RunEvent | undefined>;
  /**
   * Events of a run with a sequence number above `after`, in order, at most `limit`, optionally of some kinds only.
   * There are fewer when they are long: the page ends with the event that reaches `EVENTS_LENGTH_MAX`. An empty page
   * is the end.
   */
  readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]>;
  /**
   * The last `limit` events with a sequence number below `before`, in order. There are fewer when they are long, like
   * in `readEvents`: the page begins later.
   */
  readEventsBefore(id: RunId, before: number, limit: number): Promise<readonly RunEvent[]>;
  /** The number of the last event before the turn `turn`; 0 if there is none. Cheap in a long log. */
  lastSeqBeforeTurn(id: RunId, turn: number): Promise<number>;
}

export interface OwnChange {
  readonly run: Run;
  /** What the next change may know. Absent: it must read the run. */
  readonly next?: RunAggregate;
}

/** Identifies a run by its id, by its session, or as the newest run of a conversation. */
export type RunKey =
  | { readonly id: RunId }
  | { readonly sessionId: string }
  | { readonly conversationId: string };

/** A run with everything that a decision about it needs. */
export interface RunAggregate {
  readonly run: Run;
  /** Follow-ups that no turn has taken and nobody has withdrawn, in order. */
  readonly waiting: readonly FollowUp[];
  /** Follow-ups of the current turn, for an attempt that continues it. */
  readonly taken: readonly FollowUp[];
  /**
   * All threads that were ever bound to the run. A thread that is bound to another run by now still gets the end of
   * this one.
   */
  readonly threads: readonly Thread[];
  /** Whether the run has a lease that has expired by the database's clock. */
  readonly leaseOver: boolean;
  /** Changes with every change of the run. */
  readonly version: string;
}
