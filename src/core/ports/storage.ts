import type { Environment } from "../environments/environment.ts";
import type { LeaseToken, PrincipalId, RunId } from "../ids.ts";
import type { Settlement } from "../intake/settlement.ts";
import type { Policy } from "../policies/policy.ts";
import type { RoutingRule } from "../routing/routing-rule.ts";
import type { RunEvent, RunEventKind } from "../runs/events.ts";
import type { RememberedAnswer } from "../runs/remembered-answer.ts";
import type { FollowUp, Run, RunOrigin } from "../runs/run.ts";
import type { RunChange } from "../runs/run-change.ts";
import type { RunPage, RunQuery } from "../runs/run-query.ts";
import type { RunState } from "../runs/states.ts";
import type { Schedule } from "../schedules/schedule.ts";
import type { Secret } from "../secrets/secret.ts";
import type { Notice } from "../threads/notice.ts";
import type { StoredThread, Thread, ThreadAddress, Verbosity } from "../threads/thread.ts";
import type { EventLog } from "./event-log.ts";
import type { FileStore } from "./files.ts";
import type { InboxLog } from "./inbox-log.ts";
import type {
  AdministratorKeys,
  IdentityStore,
  InstallationStore,
  KeyStore,
  PeopleStore,
  TeamStore,
} from "./people.ts";
import type { RecordStore } from "./records.ts";
import type { RunReports } from "./run-reports.ts";
import type { DueSchedules } from "./schedules.ts";
import type { ShareLinkStore } from "./share-links.ts";
import type { SkillHistory } from "./skill-history.ts";
import type { Delivery, InboxEvent, Receipt } from "./thread-adapter.ts";
import type { WebhookStorage } from "./webhooks.ts";
import type { WorkerStore } from "./workers.ts";

/** Everything that must outlive a process. Each method is one transaction: all of it is stored, or nothing. */
export interface Storage {
  readonly runs: RunStore;
  readonly log: EventLog;
  readonly leases: LeaseStore;
  readonly threads: ThreadStore;
  readonly inbox: InboxStore;
  readonly outbox: OutboxStore;
  readonly teams: TeamStore;
  readonly people: PeopleStore;
  readonly identities: IdentityStore;
  readonly keys: KeyStore;
  readonly administrators: AdministratorKeys;
  readonly installations: InstallationStore;
  readonly shareLinks: ShareLinkStore;
  readonly answers: AnswerStore;
  readonly files: FileStore;
  readonly skillHistory: SkillHistory;
  readonly webhooks: WebhookStorage;
  readonly environments: RecordStore<Environment>;
  readonly secrets: RecordStore<Secret>;
  readonly workers: WorkerStore;
  readonly reports: RunReports;
  readonly schedules: RecordStore<Schedule>;
  readonly dueSchedules: DueSchedules;
  readonly inboxLog: InboxLog;
  readonly policies: RecordStore<Policy>;
  readonly routingRules: RecordStore<RoutingRule>;
  /** The database's time, which counts where clocks of processes may differ. */
  now(): Promise<Date>;
  /**
   * All that `work` stores through the storage it is given, or nothing. It may be called again. What it throws is
   * thrown. Within it, nothing must be stored through any other storage.
   */
  atomically<T>(work: (storage: Storage) => Promise<T>): Promise<T>;
}

/** Somebody else was there first; the database's unique index says so. Look again and decide anew. */
export class Taken extends Error {
  override readonly name = "Taken";
  readonly what: "meaning" | "thread" | "answer" | "name";

  constructor(what: Taken["what"]) {
    super(`This ${what} is taken.`);
    this.what = what;
  }
}

/** Runs, each with its log and its follow-ups. */
export interface RunStore {
  /** Stores a new run with what it causes. Throws `Taken`. */
  create(origin: RunOrigin, change: RunChange): Promise<Run>;
  /**
   * The only way in which a run changes: lets `decide` look at it, and stores what it decided if the run is still as it
   * was then; otherwise `decide` is called again. It may throw (nothing is stored) or return undefined (nothing changes).
   * Throws `resource_not_found` or `Taken`.
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

/** Who may write to a run, and which runs need somebody who does. Time is the database's. */
export interface LeaseStore {
  /** Prolongs a lease by `ttlMs` of database time; the run's state, or undefined when the lease is another's. */
  renew(id: RunId, token: LeaseToken, ttlMs: number): Promise<RunState | undefined>;
  /** Runs whose lease is over, by the database's clock. */
  listLost(limit: number): Promise<readonly RunId[]>;
  /** Runs that have been QUEUED, free and untouched for a while, and that workers of this name may take. */
  listIdle(host: string | undefined, limit: number): Promise<readonly IdleRun[]>;
}

export type IdleRun = Pick<Run, "id" | "config">;

/** The threads outside in which runs were asked for. They are bound to runs by `RunChange`. */
export interface ThreadStore {
  find(address: ThreadAddress): Promise<StoredThread | undefined>;
  findById(id: string): Promise<StoredThread | undefined>;
  /** All threads that were ever bound to the run. */
  listOf(runId: RunId): Promise<readonly StoredThread[]>;
  setVerbosity(id: string, verbosity: Verbosity): Promise<void>;
}

/** What adapters were sent, from the delivery to its one end. */
export interface InboxStore {
  /** Stores an event before it is acknowledged; false when this delivery is already stored. */
  put(event: InboxEvent): Promise<boolean>;
  /** The oldest event of the lane that has no end yet. */
  next(lane: string): Promise<InboxEvent | undefined>;
  /** Gives an event that changes no run its end, and says `says.notices` in the thread. Throws `Taken`. */
  settle(settlement: Settlement, says?: Saying): Promise<void>;
  /** Counts a failed try; how many there were. */
  countFailure(id: string, error: string): Promise<number>;
  /** Lanes in which an event has had no end for a while. */
  listOpenLanes(limit: number): Promise<readonly string[]>;
}

export interface Saying {
  readonly thread: ThreadAddress & { readonly id: string };
  readonly notices: readonly Notice[];
  /** Said unless something was said under this name before. */
  readonly once?: string;
}

/** What threads are still to be told. Notices come in with the change that they tell of, and leave in their order. */
export interface OutboxStore {
  /**
   * The first delivery of the thread that is due, marked as being tried. Cards with a newer card behind them in
   * the same slot are dropped on the way. Undefined when nothing is due now.
   */
  take(threadId: string): Promise<TakenDelivery | undefined>;
  sent(deliveryId: string, receipt: Receipt): Promise<void>;
  /** Tries again after `retryAfterMs`, holding the thread's later deliveries back; without it, gives it up. */
  failed(deliveryId: string, error: string, retryAfterMs?: number): Promise<void>;
  /** Threads in which something has been due for a while. */
  listDue(limit: number): Promise<readonly string[]>;
}

export interface TakenDelivery extends Delivery {
  readonly adapter: string;
  /** Earlier tries. */
  readonly tries: number;
}

/** Answers to writes that carried an idempotency key. */
export interface AnswerStore {
  find(principalId: PrincipalId, key: string): Promise<RememberedAnswer | undefined>;
  /** Throws `Taken` when the key has an answer already. */
  remember(answer: RememberedAnswer): Promise<void>;
  /** Forgets answers that are older than a day, some thousand of them; how many. */
  prune(): Promise<number>;
}
