import type { RecordStore } from "../records/record-store.ts";
import type {
  NewWebhookDelivery,
  WebhookDelivery,
  WebhookDeliveryState,
  WebhookTry,
} from "./webhook-delivery.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";
import type { VisibleEvent, VisibleRun } from "./webhook-message.ts";

/** All that is stored for webhooks. */
export interface WebhookStorage {
  readonly endpoints: RecordStore<WebhookEndpoint>;
  readonly log: WebhookLog;
  readonly outbox: WebhookOutbox;
  readonly history: WebhookHistory;
}

/** The log of all runs, as far as endpoints are told of it. */
export interface WebhookLog {
  /**
   * The next moves in the log, at most so many events further on, and their runs. What was read counts as told once
   * the transaction it was read in is committed; of two readers at once, one finds nothing.
   */
  next(limit: number): Promise<LogPart>;
}

export interface LogPart {
  readonly stateChanges: readonly { readonly run: VisibleRun; readonly event: VisibleEvent }[];
  /** Whether there is more to read already. */
  readonly hasMore: boolean;
}

/** Messages on their way. All times are the database's: the workers' clocks may differ. */
export interface WebhookOutbox {
  /** Stores messages to be sent. What an endpoint is told of a run's event already, it is not told again. */
  add(deliveries: readonly NewWebhookDelivery[]): Promise<void>;
  /**
   * The first due delivery whose endpoint is switched on and not among `busy`, marked as being tried: if nobody
   * settles it, it is due again after a while. Of one run an endpoint is given one after the other, by number.
   */
  take(busy: readonly string[]): Promise<TakenWebhook | undefined>;
  /** The endpoint as it stands, locked for the transaction: whoever changes one holds it. */
  hold(endpointId: string): Promise<WebhookEndpoint | undefined>;
  /** Stores what came of a try; false when the delivery has been settled, taken again or removed meanwhile. */
  settle(taken: TakenWebhook, settled: CompletedTry): Promise<boolean>;
  /** Gives up what waits for an endpoint; of very much a part, and `tidy` the rest. */
  giveUp(endpointId: string, error: string): Promise<void>;
}

export interface TakenWebhook extends NewWebhookDelivery {
  readonly endpoint: WebhookEndpoint;
  /** Which try this is: ever, and since the delivery was made or replayed. */
  readonly number: number;
  readonly step: number;
}

export interface CompletedTry {
  readonly tried: Omit<WebhookTry, "number" | "at">;
  readonly state: WebhookDeliveryState;
  /** Of one that waits. Later ones of the same run to the same endpoint wait with it. */
  readonly retryAfterMs?: number;
}

/** What was sent, and what became of it. */
export interface WebhookHistory {
  /** The newest first. */
  list(query: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]>;
  find(endpointId: string, id: string): Promise<TriedWebhook | undefined>;
  /** Has deliveries sent again from the beginning of the schedule, at most `limit`, the oldest first; how many. */
  replay(endpointId: string, which: ReplayedDeliveries, limit: number): Promise<number>;
  /** Takes the endpoint away from its team for good. There may be very much of its history, which `tidy` removes. */
  forget(endpointId: string): Promise<void>;
  /**
   * Removes what was settled longer ago and what is of endpoints that were forgotten, and gives up what still waits for
   * one that is switched off: of each at most `limit`. True when there may be more to do.
   */
  tidy(olderThanMs: number, limit: number): Promise<boolean>;
}

export interface WebhookDeliveryQuery {
  readonly endpointId: string;
  readonly state?: WebhookDeliveryState;
  /** The last one of the page before. */
  readonly after?: string;
  readonly limit: number;
}

export interface TriedWebhook extends WebhookDelivery {
  readonly history: readonly WebhookTry[];
}

/** One, in whatever state, or all that were given up and made within a time. */
export type ReplayedDeliveries = { readonly id: string } | { readonly since: Date; readonly until?: Date };
