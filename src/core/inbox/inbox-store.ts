import type { Notice } from "../threads/notice.ts";
import type { ThreadAddress } from "../threads/thread.ts";
import type { InboxEvent } from "../threads/thread-adapter.ts";
import type { InboxResult } from "./settlement.ts";

/** What adapters were sent, from the delivery to its one end. */
export interface InboxStore {
  /** Stores an event before it is acknowledged; false when this delivery is already stored. */
  put(event: InboxEvent): Promise<boolean>;
  /** The oldest event of the lane that has no end yet. */
  next(lane: string): Promise<InboxEvent | undefined>;
  /** Gives an event that changes no run its end, and says `says.notices` in the thread. Throws `UniqueConflict`. */
  settle(result: InboxResult, says?: ThreadNotices): Promise<void>;
  /** Counts a failed try; how many there were. */
  countFailure(id: string, error: string): Promise<number>;
  /** Lanes in which an event has had no end for a while. */
  listOpenLanes(limit: number): Promise<readonly string[]>;
}

export interface ThreadNotices {
  readonly thread: ThreadAddress & { readonly id: string };
  readonly notices: readonly Notice[];
  /** Said unless something was said under this name before. */
  readonly once?: string;
}
