import { defined } from "../../basics/defined.ts";
import { newId } from "../../basics/ids.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook-endpoint.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { TakenWebhook } from "../../ports/stores/webhook-stores.ts";
import type { WebhookAnswer } from "../../ports/webhook-client.ts";
import { decideOutcome, type Outcome } from "./decide-outcome.ts";
import { disabledMessage } from "./webhook-message.ts";

/** Stores the result of a try in one transaction; undefined when the delivery is no longer active. */
export async function completeTry(
  storage: Pick<Storage, "webhooks">,
  taken: TakenWebhook,
  answer: WebhookAnswer,
  now: Date,
): Promise<Outcome | undefined> {
  const endpoint = await storage.webhooks.outbox.lock(taken.endpoint.id);
  if (endpoint === undefined) {
    return undefined;
  }
  const { failingSince, url } = endpoint;
  const hasMoved = url !== taken.endpoint.url;
  const health = defined({ hasMoved, failingSince });
  const outcome = decideOutcome({ answer, step: taken.step, now, ...health });
  const { durationMs, status } = answer;
  const isOurs = await storage.webhooks.outbox.complete(
    taken,
    defined({
      state: outcome.state,
      retryAfterMs: "retryAfterMs" in outcome ? outcome.retryAfterMs : undefined,
      tried: defined({
        durationMs,
        status: status !== undefined ? status : undefined,
        error: "error" in outcome ? outcome.error : undefined,
      }),
    }),
  );
  if (!isOurs) {
    return undefined;
  }
  if (!hasMoved) {
    await keepCount(storage, endpoint, outcome, now);
  }
  return outcome;
}

/** Updates the failure count of the endpoint, and disables an endpoint that only fails. */
async function keepCount(
  storage: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
  outcome: Outcome,
  now: Date,
): Promise<void> {
  const { failingSince, ...healthy } = endpoint;
  if (outcome.state === "delivered") {
    if (failingSince !== undefined) {
      await storage.webhooks.endpoints.replace(healthy);
    }
    return;
  }
  const reason = outcome.state === "dead" ? outcome.disable : undefined;
  if (reason !== undefined && endpoint.enabled) {
    return disable(storage, endpoint, reason, now);
  }
  if (failingSince === undefined) {
    await storage.webhooks.endpoints.replace({ ...endpoint, failingSince: now });
  }
}

/**
 * The notice appears in the endpoint's own history, and is sent to the team's other endpoints that subscribe to it. The
 * team does not manage the endpoint of one run.
 */
async function disable(
  storage: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
  reason: string,
  now: Date,
): Promise<void> {
  await storage.webhooks.endpoints.replace({
    ...endpoint,
    enabled: false,
    disabledReason: reason,
    updatedAt: now,
  });
  const others = endpoint.runId === undefined ? await listOthers(storage, endpoint) : [];
  const notice = disabledMessage(endpoint, reason, now);
  const notices = [endpoint, ...others].map(({ id }) => ({ id: newId(now), endpointId: id, ...notice }));
  await storage.webhooks.outbox.add(notices);
  await storage.webhooks.outbox.giveUp(endpoint.id, `The endpoint was switched off. ${reason}`);
}

async function listOthers(
  { webhooks }: Pick<Storage, "webhooks">,
  endpoint: WebhookEndpoint,
): Promise<readonly WebhookEndpoint[]> {
  const all = await webhooks.endpoints.list(endpoint.teamId);
  return all.filter(
    ({ enabled, events, id }) => enabled && events.includes("webhook.disabled") && id !== endpoint.id,
  );
}
