import type { RunId } from "../ids.ts";
import type { Delivery, Receipt } from "../threads/thread-adapter.ts";

/** The deliveries to threads. A notice is stored with the change that causes it, and is delivered in order. */
export interface OutboxStore {
  /**
   * Returns the first delivery of the thread that is due, and marks it as being tried. Drops cards that have a newer
   * card with the same message key behind them. Undefined when nothing is due.
   */
  take(threadId: string): Promise<TakenDelivery | undefined>;
  /** Has no effect on a delivery that was deleted meanwhile. */
  sent(deliveryId: string, receipt: Receipt, permalink?: string): Promise<void>;
  /**
   * Tries again after `retryAfterMs`, and holds the thread's later deliveries back. Without it, the delivery is given
   * up.
   */
  failed(deliveryId: string, error: string, retryAfterMs?: number): Promise<void>;
  /** Threads in which a delivery has been due for a while. */
  listDue(limit: number): Promise<readonly string[]>;
}

export interface TakenDelivery extends Delivery {
  readonly adapter: string;
  /** Absent: the notice belongs to no run. */
  readonly runId?: RunId;
  /** The number of earlier tries, since the last retry on request. */
  readonly tries: number;
}
