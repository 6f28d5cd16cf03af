import type { RunId } from "../../basics/ids.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { PaceLimit } from "../../model/threads/pace-limit.ts";
import type { Delivery, Receipt } from "../thread-adapter.ts";

/** The deliveries to threads. A notice is stored with the change that causes it, and is delivered in order. */
export interface OutboxStore {
  /**
   * Returns the first delivery of the thread that may be sent, and marks it as being tried. Drops cards and reactions
   * that are followed by a newer one with the same message key. A delivery that a limit holds back gets a time and a job
   * of its own. New messages keep their order, and waiting edits, reactions and cards that give way do not hold them back.
   * Edits and reactions pass a message that waits long for a limit.
   */
  take(threadId: string, limitsOf?: LimitsOf): Promise<TakenDelivery | undefined>;
  /** Has no effect on a delivery that was deleted meanwhile. */
  sent(deliveryId: string, receipt: Receipt, permalink?: string): Promise<void>;
  /**
   * Tries again after `retryAfterMs`; later messages of the thread wait for a message. Without it, the delivery is given
   * up. `closed` are the limits whose other deliveries wait as long, because the platform asked to.
   */
  failed(
    deliveryId: string,
    error: string,
    retryAfterMs?: number,
    closed?: readonly KeyedLimit[],
  ): Promise<void>;
  /** The delivery is not shown, and nobody misses it. */
  dropped(deliveryId: string): Promise<void>;
  /** Threads in which a delivery has been due for a while. */
  listDue(limit: number): Promise<readonly string[]>;
  /** Deletes the states of limits that nothing has used for an hour. Returns their number. */
  prunePaces(): Promise<number>;
}

export interface TakenDelivery extends Delivery {
  readonly adapter: string;
  /** Absent: the notice belongs to no run. */
  readonly runId?: RunId;
  /** The number of earlier tries, since the last retry on request. */
  readonly tries: number;
  /** An earlier message of the thread that waits long for a limit, and lets this edit or reaction pass. */
  readonly behind?: HeldMessage;
}

export interface HeldMessage {
  readonly notice: Notice;
  /** When it is sent. */
  readonly until: Date;
}

/** A limit at one place. */
export interface KeyedLimit extends PaceLimit {
  readonly key: string;
  /** How many writes the delivery is. Zero: the limit spares it. */
  readonly writes: number;
}

export type PacedDelivery = Pick<Delivery, "id" | "notice" | "shownAt" | "thread"> & {
  readonly adapter: string;
};

export type LimitsOf = (delivery: PacedDelivery) => readonly KeyedLimit[];
