import type { RunId, TeamId } from "../../basics/ids.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { ThreadAddress } from "../../model/threads/thread.ts";
import type { InboxEvent, MessageRevision } from "../thread-adapter.ts";

/** Events that adapters received, from the delivery to its one result. */
export interface InboxStore {
  /** Stores an event before it is acknowledged; false when this delivery is already stored. */
  put(event: InboxEvent): Promise<boolean>;
  /** The oldest event with this ordering key that has no result yet. */
  next(orderingKey: string): Promise<InboxEvent | undefined>;
  /** Whether a later open event of the same ordering key has the same content. */
  isRepeated(id: string): Promise<boolean>;
  /** Whether an event with this dedupe key had its effect. */
  isTaken(dedupeKey: string): Promise<boolean>;
  /** The results of the events about a message so far. */
  listResultsOf(messageId: string): Promise<readonly MessageResult[]>;
  /** Stores the result of an event that changes no run, and the notices for the thread. Throws `UniqueConflict`. */
  complete(result: InboxResult, threadNotices?: ThreadNotices): Promise<void>;
  /** An event whose author was asked something that nobody has answered. */
  findAsked(id: string): Promise<AskedEvent | undefined>;
  /** Those of them that arrived more than `ageMs` ago, the oldest first. */
  listAsked(ageMs: number, limit: number): Promise<readonly AskedEvent[]>;
  /** Those that wait in this thread, the oldest first. */
  listAskedIn(threadId: string): Promise<readonly AskedEvent[]>;
  /** Those that wait for the question of another event. Once that has ended, they are processed again. */
  listWaitingWith(id: string): Promise<readonly AskedEvent[]>;
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

/** An event that waits for the answer to a question. */
export interface AskedEvent extends InboxEvent {
  /** The event whose question it waits for. Absent: its own. */
  readonly waitsWith?: string;
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

/** Lists inbox events and their results for administrators. It never returns the text of an event. */
export interface InboxList {
  /** Newest first. */
  list(query: InboxQuery): Promise<readonly InboxEntry[]>;
  /** When the adapter's last event arrived, over all teams. Only recent events are looked at. */
  lastReceivedAt(adapter: string): Promise<Date | undefined>;
  find(query: Pick<InboxQuery, "teamId" | "withUnknownTeam">, id: string): Promise<InboxEntry | undefined>;
}

export interface InboxQuery {
  readonly teamId: TeamId;
  /** Also returns events without a known team: unprocessed, ignored and failed ones. */
  readonly withUnknownTeam: boolean;
  /** null: events without a result. */
  readonly disposition?: Disposition | null;
  readonly adapter?: string;
  readonly runId?: RunId;
  /** Only events with a smaller `seq`. */
  readonly before?: bigint;
  readonly limit: number;
}

export interface InboxEntry {
  readonly id: string;
  /** The order of arrival. */
  readonly seq: bigint;
  readonly adapter: string;
  /** The platform's name for the kind of event. */
  readonly name: string;
  readonly receivedAt: Date;
  readonly disposition?: Disposition;
  readonly reason?: string;
  readonly runId?: RunId;
}

export const DISPOSITIONS = [
  "run_created",
  "follow_up",
  "changed",
  "withdrawn",
  "asked",
  "cancelled",
  "answered",
  "replied",
  "refused",
  "ignored",
  "duplicate",
  "failed",
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The result of an inbox event, stored once. A second event with the same `dedupeKey` is a duplicate. */
export interface InboxResult {
  readonly inboxId: string;
  /** Set as soon as the installation of the event is known. */
  readonly teamId?: TeamId;
  readonly disposition: Disposition;
  readonly reason?: string;
  readonly dedupeKey?: string;
  /** The message that the event was about. */
  readonly revision?: MessageRevision;
  readonly runId?: RunId;
  /**
   * For an ignored reply in a thread without a run: the request may still come. If it does, the reply is processed again.
   */
  readonly mayComeEarly?: true;
  /** With the disposition `asked`: the event whose question it waits for. Ended meanwhile: `UniqueConflict`. */
  readonly waitsWith?: string;
  /** The event with the disposition `asked` that this result answers. It is answered once: otherwise `UniqueConflict`. */
  readonly answers?: string;
  /** Where the app has no token. Once it is installed there, the event is processed again. */
  readonly unconnected?: UnconnectedPlace;
}

/** A workspace that sends events and in which the app has no token. */
export interface UnconnectedPlace {
  readonly adapter: string;
  /** The platform's id of the workspace. */
  readonly externalId: string;
  readonly organizationId?: string | undefined;
}
