import type { Delivery, Receipt } from "../threads/thread-adapter.ts";

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
