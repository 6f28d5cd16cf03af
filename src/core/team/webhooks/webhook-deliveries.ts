import type { Clock } from "../../basics/clock.ts";
import { AppError } from "../../basics/errors.ts";
import { newId, type RunId, type TeamId } from "../../basics/ids.ts";
import type { WebhookDelivery, WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type {
  ReplayedDeliveries,
  TriedWebhook,
  WebhookDeliveryQuery,
} from "../../ports/stores/webhook-stores.ts";
import { getEndpoint, lockEndpoint, missing } from "./find-endpoint.ts";
import { testMessage } from "./webhook-message.ts";

export interface WebhookDeliveriesDeps {
  /** Inside a transaction when something is sent, because the endpoint is locked until its end. */
  readonly storage: Pick<Storage, "webhooks">;
  readonly clock: Clock;
}

export const REPLAYED_AT_ONCE = 5_000;

/** Lists what was sent to a team's endpoints, and sends it again on request. */
export class WebhookDeliveries {
  readonly #deps: WebhookDeliveriesDeps;

  constructor(deps: WebhookDeliveriesDeps) {
    this.#deps = deps;
  }

  async list(teamId: TeamId, query: WebhookDeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const { storage } = this.#deps;
    await getEndpoint(storage, teamId, query.endpointId);
    return storage.webhooks.history.list(query);
  }

  async get(teamId: TeamId, endpointId: string, id: string): Promise<TriedWebhook> {
    const { storage } = this.#deps;
    await getEndpoint(storage, teamId, endpointId);
    return (await storage.webhooks.history.find(endpointId, id)) ?? missing("delivery");
  }

  /** Sends a test message. */
  async test(teamId: TeamId, endpointId: string): Promise<WebhookDelivery> {
    const { clock, storage } = this.#deps;
    const endpoint = await lockEndpoint(storage, teamId, endpointId);
    requireEnabled(endpoint);
    const now = clock.now();
    const delivery = { id: newId(now), endpointId, ...testMessage(endpoint, now) };
    await storage.webhooks.outbox.add([delivery]);
    return this.get(teamId, endpointId, delivery.id);
  }

  /** Sends a delivery again, whatever its state. */
  async replay(teamId: TeamId, endpointId: string, id: string): Promise<WebhookDelivery> {
    if ((await this.replayMany(teamId, endpointId, { id })) === 0) {
      missing("delivery");
    }
    return this.get(teamId, endpointId, id);
  }

  /** The deliveries to the webhook of a run; none if it has no webhook. */
  async listOfRun(
    runId: RunId,
    query: Omit<WebhookDeliveryQuery, "endpointId">,
  ): Promise<readonly WebhookDelivery[]> {
    const { webhooks } = this.#deps.storage;
    const [endpoint] = await webhooks.runEndpoints.list([runId]);
    return endpoint === undefined ? [] : webhooks.history.list({ ...query, endpointId: endpoint.id });
  }

  /** Sends a delivery to the webhook of a run again. It also enables a webhook that failed for too long. */
  async replayOfRun(runId: RunId, id: string): Promise<WebhookDelivery> {
    const { webhooks } = this.#deps.storage;
    const [endpoint] = await webhooks.runEndpoints.list([runId]);
    const held = (endpoint && (await webhooks.outbox.lock(endpoint.id))) ?? missing("delivery");
    if ((await webhooks.history.replay(held.id, { id }, 1)) === 0) {
      missing("delivery");
    }
    if (!held.enabled) {
      const { disabledReason: _reason, failingSince: _since, ...kept } = held;
      await webhooks.endpoints.replace({ ...kept, enabled: true, updatedAt: this.#deps.clock.now() });
    }
    return (await webhooks.history.find(held.id, id)) ?? missing("delivery");
  }

  /** Returns how many are sent again. If there are very many, only the oldest ones: call it again for the rest. */
  async replayMany(teamId: TeamId, endpointId: string, which: ReplayedDeliveries): Promise<number> {
    const { storage } = this.#deps;
    requireEnabled(await lockEndpoint(storage, teamId, endpointId));
    return storage.webhooks.history.replay(endpointId, which, REPLAYED_AT_ONCE);
  }
}

function requireEnabled({ enabled }: WebhookEndpoint): void {
  if (enabled) {
    return;
  }
  throw new AppError("operation_not_supported", "The webhook is switched off.", {
    remedy: "Switch it on first: PATCH it with enabled: true.",
  });
}
