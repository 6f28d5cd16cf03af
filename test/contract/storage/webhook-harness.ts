import { expect } from "vitest";
import type { NewWebhookDelivery, WebhookEndpoint } from "../../../src/core/model/webhooks/webhook.ts";
import type {
  CompletedTry,
  TakenWebhook,
  WebhookStorage,
} from "../../../src/core/ports/stores/webhook-stores.ts";
import { aDelivery, anEndpoint } from "../../support/webhook-builders.ts";
import type { StorageHarness } from "./harness.ts";

export const DELIVERED: CompletedTry = { state: "delivered", tried: { durationMs: 12, status: 204 } };
export const DEAD: CompletedTry = {
  state: "dead",
  tried: { durationMs: 12, status: 410, error: "It is gone." },
};

export function retried(retryAfterMs: number): CompletedTry {
  return { state: "waiting", tried: { durationMs: 15_000, error: "There was no answer." }, retryAfterMs };
}

/** Endpoints of one storage. A test takes from each of its endpoints as if there were no others. */
export class WebhookHarness {
  readonly #bench: () => StorageHarness;
  static readonly #made: string[] = [];

  constructor(harness: () => StorageHarness) {
    this.#bench = harness;
  }

  get stores(): WebhookStorage {
    return this.#bench().storage.webhooks;
  }

  /** The ids of all endpoints that tests have created. */
  get everybody(): readonly string[] {
    return WebhookHarness.#made;
  }

  async anEndpoint(changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
    const endpoint = anEndpoint(changes);
    await this.stores.endpoints.add(endpoint);
    WebhookHarness.#made.push(endpoint.id);
    return endpoint;
  }

  async aDelivery(
    endpoint: WebhookEndpoint,
    changes: Partial<NewWebhookDelivery> = {},
  ): Promise<NewWebhookDelivery> {
    const delivery = aDelivery(endpoint, changes);
    await this.stores.outbox.add([delivery]);
    return delivery;
  }

  take({ id }: WebhookEndpoint): Promise<TakenWebhook | undefined> {
    return this.stores.outbox.take(this.everybody.filter((other) => other !== id));
  }

  async taken(endpoint: WebhookEndpoint): Promise<TakenWebhook> {
    return (await this.take(endpoint)) ?? expect.fail("Nothing is due.");
  }

  async completeNext(endpoint: WebhookEndpoint, completed: CompletedTry): Promise<TakenWebhook> {
    const open = await this.taken(endpoint);
    await this.stores.outbox.complete(open, completed);
    return open;
  }

  find({ endpointId, id }: NewWebhookDelivery) {
    return this.stores.history.find(endpointId, id);
  }
}
