import type { RunId } from "../ids.ts";
import type { Thread } from "../threads/thread.ts";
import type { RunEvent, RunEventKind } from "./events.ts";
import type { FollowUp, Run, RunOrigin } from "./run.ts";
import type { RunChange } from "./run-change.ts";
import type { RunPage, RunQuery } from "./run-query.ts";

/** Runs, each with its log and its follow-ups. */
export interface RunStore {
  /** Stores a new run with what it causes. Throws `UniqueConflict`. */
  create(origin: RunOrigin, change: RunChange): Promise<Run>;
  /**
   * The only way in which a run changes: lets `decide` look at it, and stores what it decided if the run is still as it
   * was then; otherwise `decide` is called again. It may throw (nothing is stored) or return undefined (nothing changes).
   * Throws `resource_not_found` or `UniqueConflict`.
   */
  change(id: RunId, decide: (subject: RunSubject) => RunChange | undefined): Promise<Run>;
  /** What a decision about the run would be shown now. Throws `resource_not_found`. */
  look(id: RunId): Promise<RunSubject>;
  find(key: RunKey): Promise<Run | undefined>;
  list(query: RunQuery): Promise<RunPage>;
  /**
   * Events of a run with a sequence number above `after`, in order, at most `limit`; of these kinds alone. Fewer when they
   * are long: the page ends with the one that reaches `EVENTS_LENGTH_MAX`. An empty page is the end.
   */
  readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]>;
}

/** A run by its id, by the id of its session, or the newest run of a conversation. */
export type RunKey =
  | { readonly id: RunId }
  | { readonly sessionId: string }
  | { readonly conversationId: string };

/** A run as it stands, with what a decision about it needs. */
export interface RunSubject {
  readonly run: Run;
  /** Follow-ups that no turn has taken, in their order. */
  readonly waiting: readonly FollowUp[];
  /** Follow-ups of the current turn, for an attempt that takes it up again. */
  readonly taken: readonly FollowUp[];
  /** All threads that were ever bound to it: a run whose thread went on to another one still tells its end there. */
  readonly threads: readonly Thread[];
  /** Whether there is a lease and its time is over, by the database's clock. */
  readonly leaseOver: boolean;
}
