import type { RunId } from "../../basics/ids.ts";
import type { RunEvent } from "../../model/runs/events.ts";
import type { RunDefinition } from "../../model/runs/run.ts";
import type {
  NewWebhookDelivery,
  StateChangeEvent,
  WebhookDelivery,
  WebhookDeliveryState,
  WebhookEndpoint,
  WebhookTry,
} from "../../model/webhooks/webhook.ts";
import type { RecordStore } from "./record-store.ts";

/**
 * The members of a run in a webhook message. The prompt and the answer are not among them, because receivers may not
 * be allowed to read them.
 */
export type VisibleRun = Pick<
  RunDefinition,
  | "id"
  | "teamId"
  | "teamOwned"
  | "title"
  | "source"
  | "createdAt"
  | "sessionId"
  | "conversationId"
  | "ancestorIds"
  | "metadata"
  | "triggerUrl"
>;

export type VisibleEvent = RunEvent & { readonly body: StateChangeEvent };

/** Everything that is stored for webhooks. */
export interface WebhookStorage {
  /** The endpoints of teams. An endpoint of one run is created and deleted with its run. */
  readonly endpoints: RecordStore<WebhookEndpoint>;
  readonly runEndpoints: RunEndpoints;
  readonly log: WebhookLog;
  readonly outbox: WebhookOutbox;
  readonly history: WebhookHistory;
}

/** The endpoints that belong to one run each. */
export interface RunEndpoints {
  list(runIds: readonly RunId[]): Promise<readonly WebhookEndpoint[]>;
}

/** The log of all runs, as webhooks read it. */
export interface WebhookLog {
  /**
   * The next state changes in the log with their runs, from at most this many events. The position is stored with the
   * transaction, so of two concurrent readers one finds nothing.
   */
  next(limit: number): Promise<LogPart>;
}

export interface LogPart {
  readonly stateChanges: readonly { readonly run: VisibleRun; readonly event: VisibleEvent }[];
  /** Whether more can be read already. */
  readonly hasMore: boolean;
}

/** Messages to be sent. All times are the database's, because the clocks of workers may differ. */
export interface WebhookOutbox {
  /** Stores messages. An endpoint receives an event of a run only once. */
  add(deliveries: readonly NewWebhookDelivery[]): Promise<void>;
  /**
   * The first due delivery whose endpoint is enabled and not in `busy`. It is marked as being tried; if it is not
   * completed, it is due again after a while. Deliveries of one run to one endpoint are sent one at a time, in order.
   */
  take(busy: readonly string[]): Promise<TakenWebhook | undefined>;
  /** Whether a delivery waits, due or not. */
  hasWaiting(): Promise<boolean>;
  /** The endpoint, locked for the transaction. */
  lock(endpointId: string): Promise<WebhookEndpoint | undefined>;
  /** Stores the result of a try. False when the delivery was completed, taken again or deleted meanwhile. */
  complete(taken: TakenWebhook, completed: CompletedTry): Promise<boolean>;
  /** Gives up what waits for an endpoint. If there is very much, `prune` completes it. */
  giveUp(endpointId: string, error: string): Promise<void>;
}

export interface TakenWebhook extends NewWebhookDelivery {
  readonly endpoint: WebhookEndpoint;
  /** The number of the try: in total, and since the delivery was created or replayed. */
  readonly number: number;
  readonly step: number;
}

export interface CompletedTry {
  readonly tried: Omit<WebhookTry, "number" | "at">;
  readonly state: WebhookDeliveryState;
  /** Set for a delivery that is retried. Later deliveries of the same run to the same endpoint wait too. */
  readonly retryAfterMs?: number;
}

/** The history of deliveries. */
export interface WebhookHistory {
  /** Newest first. */
  list(query: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]>;
  find(endpointId: string, id: string): Promise<TriedWebhook | undefined>;
  /** Sends deliveries again from the start of the retry schedule, at most `limit`, oldest first. Returns how many. */
  replay(endpointId: string, which: ReplayedDeliveries, limit: number): Promise<number>;
  /** Removes the endpoint from its team. `prune` deletes its history, which may be very long. */
  detach(endpointId: string): Promise<void>;
  /**
   * Deletes completed deliveries older than `olderThanMs` and those of deleted endpoints, and gives up what waits for
   * disabled endpoints: of each at most `limit`. True when there may be more.
   */
  prune(olderThanMs: number, limit: number): Promise<boolean>;
}

export interface WebhookDeliveryQuery {
  readonly endpointId: string;
  readonly state?: WebhookDeliveryState;
  /** The last delivery of the previous page. */
  readonly after?: string;
  readonly limit: number;
}

export interface TriedWebhook extends WebhookDelivery {
  readonly history: readonly WebhookTry[];
}

/** One delivery in any state, or all that were given up and created in a period. */
export type ReplayedDeliveries = { readonly id: string } | { readonly since: Date; readonly until?: Date };
