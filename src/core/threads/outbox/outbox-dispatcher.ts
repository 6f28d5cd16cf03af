import { AppError, messageWithRemedy } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import type {
  KeyedLimit,
  OutboxStore,
  PacedDelivery,
  TakenDelivery,
} from "../../ports/stores/outbox-store.ts";
import type { Receipt, ThreadAdapter } from "../../ports/thread-adapter.ts";
import type { RunService } from "../../requests/run-service.ts";
import type { InstallationHealth } from "../../team/people/installation-health.ts";
import { limitsOf, writeKindOf } from "./pace.ts";

export interface OutboxDispatcherDeps {
  readonly outbox: OutboxStore;
  readonly adapters: ReadonlyMap<string, ThreadAdapter>;
  readonly runs: Pick<RunService, "recordDeadNotice">;
  readonly installationHealth: Pick<InstallationHealth, "failed" | "worked">;
  readonly log: Log;
}

/** After about a day of trying, the message is no longer useful. */
const TRIES_MAX = 40;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 3_600_000;

/**
 * The only writer to a thread. The queue has at most one `deliver` job for each thread. The life of a notice:
 *
 * 1. A change of a run stores it in the same transaction, with the job.
 * 2. `work` takes the oldest one. A limit of the platform can postpone it; then the job ends, and comes again later.
 * 3. The adapter looks for a post of an earlier try, posts or edits, and returns where it is shown.
 * 4. A failure that may pass is tried again with a growing pause, at most for about a day.
 * 5. Otherwise the notice is dead: the log of its run and the doctor name the reason, and it can be sent again.
 */
export class OutboxDispatcher {
  readonly #deps: OutboxDispatcherDeps;

  constructor(deps: OutboxDispatcherDeps) {
    this.#deps = deps;
  }

  /**
   * Handles a `deliver` job. Can be repeated, because the adapter first looks for a message that an earlier try may
   * have posted.
   */
  async work(threadId: string, stop: AbortSignal): Promise<void> {
    for (;;) {
      // This must throw: a job whose handler returns is deleted, and waiting deliveries would have no job.
      stop.throwIfAborted();
      const delivery = await this.#deps.outbox.take(threadId, this.#limitsOf);
      if (delivery === undefined || !(await this.#deliver(delivery))) {
        return;
      }
    }
  }

  /** False when the thread must wait. */
  async #deliver(delivery: TakenDelivery): Promise<boolean> {
    const { outbox } = this.#deps;
    let adapter: ThreadAdapter;
    let receipt: string;
    try {
      adapter = this.#adapterOf(delivery);
      if (adapter.refuses?.(delivery) === true) {
        await outbox.dropped(delivery.id);
        return true;
      }
      receipt = await adapter.deliver(withHeld(delivery));
    } catch (error) {
      await this.#deps.installationHealth.failed(error, delivery.adapter, delivery.thread.installation);
      return this.#failed(delivery, error);
    }
    await this.#deps.installationHealth.worked(delivery.adapter, delivery.thread.installation);
    const permalink = adapter.permalinkOf && (await this.#permalinkOf(adapter, delivery, receipt));
    await outbox.sent(delivery.id, receipt, permalink);
    return true;
  }

  /** The notice is shown, so a failure here must not deliver it again. */
  async #permalinkOf(
    adapter: ThreadAdapter,
    delivery: TakenDelivery,
    receipt: Receipt,
  ): Promise<string | undefined> {
    try {
      return await adapter.permalinkOf?.(delivery.thread, receipt);
    } catch (error) {
      this.#deps.log.warn("delivery.permalink.failed", { deliveryId: delivery.id, error });
      return undefined;
    }
  }

  async #failed(delivery: TakenDelivery, error: unknown): Promise<boolean> {
    const { log, outbox } = this.#deps;
    const retryable = !(error instanceof AppError) || error.retryable;
    const facts = { deliveryId: delivery.id, threadId: delivery.thread.id, tries: delivery.tries + 1, error };
    if (retryable && delivery.tries + 1 < TRIES_MAX) {
      log.warn("delivery.retried", facts);
      const requestedMs = requestedPauseOf(error);
      const closed = requestedMs === undefined ? [] : this.#limitsOf(delivery).filter(({ closes }) => closes);
      await outbox.failed(delivery.id, String(error), requestedMs ?? pauseOf(delivery), closed);
      return writeKindOf(delivery) !== "post";
    }
    log.error("delivery.dead", facts);
    await outbox.failed(delivery.id, String(error));
    await this.#recordDead(delivery, error);
    return true;
  }

  /** The notice has its end already, so a failure here changes nothing about it. */
  async #recordDead({ adapter, id: noticeId, runId, thread }: TakenDelivery, error: unknown): Promise<void> {
    const { log, runs } = this.#deps;
    if (runId === undefined) {
      return;
    }
    const reason =
      error instanceof AppError ? messageWithRemedy(error) : "Errand failed while it posted this.";
    try {
      await runs.recordDeadNotice(runId, { adapter, threadId: thread.id, noticeId, reason });
    } catch (failure) {
      log.warn("delivery.not_recorded", { deliveryId: noticeId, runId, error: failure });
    }
  }

  #limitsOf = (delivery: PacedDelivery): readonly KeyedLimit[] =>
    limitsOf(delivery, this.#deps.adapters.get(delivery.adapter)?.traits ?? {});

  #adapterOf({ adapter: name }: TakenDelivery): ThreadAdapter {
    const adapter = this.#deps.adapters.get(name);
    if (adapter !== undefined) {
      return adapter;
    }
    // Another worker may have the adapter, or this one after its next start.
    const message = `The adapter ${name} is not switched on here.`;
    throw new AppError("integration_not_configured", message, { retryable: true, integrationName: name });
  }
}

/** The card says that the answer comes later. The edit is made anyway, so this costs no write. */
function withHeld(delivery: TakenDelivery): TakenDelivery {
  const { behind, notice } = delivery;
  if (behind === undefined || notice.kind !== "card") {
    return delivery;
  }
  const { purpose } = behind.notice.kind === "message" ? behind.notice : {};
  const what = purpose === "answer" || purpose === "question" ? purpose : "next message";
  const words = `No more messages of this app are accepted here until ${behind.until.toISOString().slice(11, 16)} UTC; the ${what} follows then.`;
  const message = [notice.card.message ?? "", words].filter((text) => text !== "").join("\n");
  return { ...delivery, notice: { ...notice, card: { ...notice.card, message } } };
}

/** How long the platform asks to wait. A wrong time must not close a channel for days. */
function requestedPauseOf(error: unknown): number | undefined {
  const requestedMs = error instanceof AppError ? error.options.retryAfterMs : undefined;
  return requestedMs === undefined ? undefined : Math.min(RETRY_MAX_MS, requestedMs);
}

function pauseOf({ tries }: TakenDelivery): number {
  return Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** tries);
}
