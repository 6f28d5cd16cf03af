import type { RunId } from "../../basics/ids.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { ThreadAddress } from "../../model/threads/thread.ts";
import type { InboxEvent } from "../thread-adapter.ts";
import type { Disposition, InboxResult } from "./inbox-result.ts";

/** Events that adapters received, from the delivery to its one result. */
export interface InboxStore {
  /** Stores an event before it is acknowledged; false when this delivery is already stored. */
  put(event: InboxEvent): Promise<boolean>;
  /** The oldest event with this ordering key that has no result yet. */
  next(orderingKey: string): Promise<InboxEvent | undefined>;
  /** The results of the events about a message so far. */
  listResultsOf(messageId: string): Promise<readonly MessageResult[]>;
  /** Stores the result of an event that changes no run, and the notices for the thread. Throws `UniqueConflict`. */
  complete(result: InboxResult, threadNotices?: ThreadNotices): Promise<void>;
  /** An event whose author was asked something that nobody has answered. */
  findAsked(id: string): Promise<InboxEvent | undefined>;
  /** Those of them that arrived more than `ageMs` ago, the oldest first. */
  listAsked(ageMs: number, limit: number): Promise<readonly InboxEvent[]>;
  /** Those whose authors were asked in this thread. */
  listAskedIn(threadId: string): Promise<readonly InboxEvent[]>;
  /** Ends such an event without an answer. False when it was answered meanwhile. */
  giveUpAsked(id: string, reason: string, threadNotices?: ThreadNotices): Promise<boolean>;
  /**
   * Lets a failed event be processed once more, before later open events of its ordering key. False when the event has
   * not failed, or no longer has its body.
   */
  retry(id: string): Promise<boolean>;
  /** Counts a failed try, and returns how many there were. */
  countFailure(id: string, error: string): Promise<number>;
  /** Stores why an event waits, without counting a failed try. */
  noteFailure(id: string, error: string): Promise<void>;
  /**
   * Deletes bodies of events that have had their result for `keptMs`, a limited number at a time, and returns the
   * number. The bodies of ignored events are deleted with their result, or soon after it.
   */
  pruneBodies(keptMs: number): Promise<number>;
  /** Ordering keys with an event that has had no result for a while. */
  listOpenOrderingKeys(limit: number): Promise<readonly string[]>;
}

/** How long the request of a thread may come after a reply in it. */
export const EARLY_REPLY_MS = 15 * 60_000;

/** How an event about a message ended. */
export interface MessageResult {
  readonly inboxId: string;
  readonly disposition: Disposition;
  readonly runId?: RunId;
  readonly version: string;
}

export interface ThreadNotices {
  readonly thread: ThreadAddress & { readonly id: string };
  readonly notices: readonly Notice[];
  /** A name for the notices. If notices with this name were stored before, these are not. */
  readonly once?: string;
}
