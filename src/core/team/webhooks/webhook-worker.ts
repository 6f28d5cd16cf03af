import type { Clock, Stop } from "../../basics/clock.ts";
import type { Log } from "../../basics/log.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { WebhookHistory } from "../../ports/stores/webhook-stores.ts";
import type { WebhookFanOut } from "./webhook-fan-out.ts";
import type { WebhookSender } from "./webhook-sender.ts";

export interface WebhookWorkerDeps {
  readonly fanOut: WebhookFanOut;
  readonly sender: WebhookSender;
  readonly history: WebhookHistory;
  readonly clock: Clock;
  readonly pubsub: PubSub;
  readonly log: Log;
}

/** Notifications of new events may be lost. */
const READ_MS = 10_000;
/** While messages wait: nothing announces that one becomes due. */
const SEND_MS = 1_000;
/** The log channel fires for everything that agents say. One read covers all events of this period. */
const GATHER_MS = 200;
const PRUNE_MS = 60_000;
const PRUNED_AT_ONCE = 1_000;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Follows the log, sends messages and deletes old history, until stopped. */
export function startWebhooks(deps: WebhookWorkerDeps): () => Promise<void> {
  const { clock, fanOut, pubsub, sender } = deps;
  let gathering: Stop | undefined;
  const gather = (): void => {
    gathering ??= clock.after(GATHER_MS, () => {
      gathering = undefined;
      void fanOut.round();
    });
  };
  const sending = sendWhenDue(deps);
  const stops = [
    clock.every(READ_MS, () => void fanOut.round()),
    clock.every(PRUNE_MS, () => void prune(deps)),
    pubsub.subscribe(CHANNELS.log, gather),
    pubsub.subscribe(CHANNELS.webhooks, sending.wake),
    sending.stop,
  ];
  return async () => {
    for (const stop of stops) {
      stop();
    }
    gathering?.();
    await Promise.all([fanOut.round(), sender.stop()]);
  };
}

/** Sends at once when it is woken, and then again and again while messages wait. */
function sendWhenDue({ clock, log, sender }: WebhookWorkerDeps): {
  readonly wake: () => void;
  readonly stop: Stop;
} {
  let stopTimer: Stop = () => undefined;
  let rounds = 0;
  const wake = async () => {
    rounds += 1;
    const round = rounds;
    stopTimer();
    sender.wake();
    const hasWaiting = await sender.hasWaiting().catch((error) => {
      log.warn("webhook.send.failed", { error });
      return true;
    });
    // A later round, or the stop, has taken over.
    if (round === rounds) {
      stopTimer = clock.after(hasWaiting ? SEND_MS : READ_MS, () => void wake());
    }
  };
  void wake();
  return {
    wake: () => void wake(),
    stop: () => {
      rounds += 1;
      stopTimer();
    },
  };
}

async function prune({ history, log }: WebhookWorkerDeps): Promise<void> {
  try {
    while (await history.prune(KEPT_DAYS * DAY_MS, PRUNED_AT_ONCE)) {}
  } catch (error) {
    log.warn("webhook.prune.failed", { error });
  }
}
