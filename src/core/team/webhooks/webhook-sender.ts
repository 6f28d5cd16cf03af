import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import type { Log } from "../../basics/log.ts";
import { secretOwner, validSecrets } from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { TakenWebhook } from "../../ports/stores/webhook-stores.ts";
import type { WebhookAnswer, WebhookClient } from "../../ports/webhook-client.ts";
import { completeTry, type Outcome, requestedPauseMs } from "./complete-try.ts";

export interface WebhookSenderDeps {
  readonly storage: Pick<Storage, "atomically" | "webhooks">;
  readonly client: WebhookClient;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The number of simultaneous posts of one process, and of those to one endpoint. A receiver that hangs must not block
 * the others.
 */
const POSTS_MAX = 8;
const POSTS_PER_ENDPOINT = 2;
/** A receiver that requests a pause gets nothing during it, but is tried again after this time at the latest. */
const PAUSE_MAX_MS = 300_000;
const GRACE_MS = 1_000;

/** Sends due messages. Several processes may do this at once. */
export class WebhookSender {
  readonly #deps: WebhookSenderDeps;
  readonly #cut = new AbortController();
  #isStopping = false;
  readonly #running = new Set<Promise<void>>();
  readonly #posts = new Map<string, number>();
  /** Endpoints that requested a pause, and its end. */
  readonly #pausedUntil = new Map<string, number>();

  constructor(deps: WebhookSenderDeps) {
    this.#deps = deps;
  }

  /** Looks for due messages, unless all posts are in use. */
  wake(): void {
    if (this.#running.size >= POSTS_MAX) {
      return;
    }
    const run = this.#sendDue()
      .catch((error) => this.#broke(error))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Whether messages wait that may become due later, which nothing announces. */
  async hasWaiting(): Promise<boolean> {
    return this.#deps.storage.webhooks.outbox.hasWaiting();
  }

  /**
   * Takes no more messages. A post without a quick answer is aborted and sent again later, because it is unknown
   * whether it arrived.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const stopWaiting = this.#deps.clock.after(GRACE_MS, () => this.#cut.abort());
    await Promise.all(this.#running);
    stopWaiting();
  }

  async #sendDue(): Promise<void> {
    while (!this.#isStopping) {
      const taken = await this.#deps.storage.webhooks.outbox.take(this.#busy());
      if (taken === undefined) {
        return;
      }
      this.#count(taken.endpoint.id, 1);
      // There may be more due messages.
      this.wake();
      await this.#send(taken).finally(() => this.#count(taken.endpoint.id, -1));
    }
  }

  async #send(taken: TakenWebhook): Promise<void> {
    const { clock, storage } = this.#deps;
    const answer = await this.#post(taken);
    const pauseMs = requestedPauseMs(answer) ?? 0;
    if (pauseMs > 0) {
      this.#pausedUntil.set(taken.endpoint.id, clock.now().getTime() + Math.min(pauseMs, PAUSE_MAX_MS));
    }
    const outcome = await storage.atomically((storage) => completeTry(storage, taken, answer, clock.now()));
    if (outcome !== undefined) {
      this.#logOutcome(taken, answer, outcome);
    }
  }

  async #post({ body, endpoint, id }: TakenWebhook): Promise<WebhookAnswer> {
    const { box, client, clock, log } = this.#deps;
    let secrets: readonly string[];
    try {
      const owner = secretOwner(endpoint.id);
      secrets = validSecrets(endpoint, clock.now()).map(({ sealed }) => box.open(sealed, owner));
    } catch (error) {
      log.error("webhook.secret.unreadable", { endpointId: endpoint.id, error });
      return { durationMs: 0, error: "The endpoint's secret cannot be read. Rotate it." };
    }
    return client.post({ id, url: endpoint.url, body, secrets }, this.#cut.signal);
  }

  /** Endpoints that receive nothing now. */
  #busy(): readonly string[] {
    const now = this.#deps.clock.now().getTime();
    for (const [endpointId, until] of this.#pausedUntil) {
      if (until <= now) {
        this.#pausedUntil.delete(endpointId);
      }
    }
    const posts = [...this.#posts].filter(([, count]) => count >= POSTS_PER_ENDPOINT);
    return [...posts.map(([endpointId]) => endpointId), ...this.#pausedUntil.keys()];
  }

  #count(endpointId: string, by: number): void {
    const count = (this.#posts.get(endpointId) ?? 0) + by;
    if (count === 0) {
      this.#posts.delete(endpointId);
    } else {
      this.#posts.set(endpointId, count);
    }
  }

  #logOutcome(
    { about, endpoint, id, number }: TakenWebhook,
    { status }: WebhookAnswer,
    outcome: Outcome,
  ): void {
    const { log } = this.#deps;
    const facts = { endpointId: endpoint.id, deliveryId: id, runId: about?.runId, try: number, status };
    if (outcome.state === "delivered") {
      log.info("webhook.delivered", facts);
      return;
    }
    log.warn(outcome.state === "waiting" ? "webhook.retried" : "webhook.dead", {
      ...facts,
      error: outcome.error,
    });
    const reason = outcome.state === "dead" ? outcome.disable : undefined;
    if (reason !== undefined) {
      log.warn("webhook.disabled", { endpointId: endpoint.id, reason });
    }
  }

  /** A post that the stop aborted is not a failure. */
  #broke(error: unknown): void {
    if (!this.#cut.signal.aborted) {
      this.#deps.log.warn("webhook.send.failed", { error });
    }
  }
}
