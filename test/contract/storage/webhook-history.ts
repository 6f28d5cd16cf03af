import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/basics/ids.ts";
import type { NewWebhookDelivery, WebhookEndpoint } from "../../../src/core/model/webhooks/webhook.ts";
import { aDelivery } from "../../support/webhook-builders.ts";
import type { StorageHarness } from "./harness.ts";
import { DEAD, DELIVERED, retried, WebhookHarness } from "./webhook-harness.ts";

export function describeWebhookHistory(harness: () => StorageHarness): void {
  const webhooks = new WebhookHarness(harness);

  describe("the history of an endpoint", () => {
    const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, second));

    async function three(endpoint: WebhookEndpoint): Promise<readonly string[]> {
      const deliveries = [1, 2, 3].map((second) => aDelivery(endpoint, { id: newId(at(second)) }));
      await webhooks.stores.outbox.add(deliveries);
      return deliveries.map(({ id }) => id).reverse();
    }

    test("deliveries are listed newest first, page by page, of one state if requested", async () => {
      const endpoint = await webhooks.anEndpoint();
      const ids = await three(endpoint);
      await three(await webhooks.anEndpoint());
      const open = await webhooks.taken(endpoint);
      await webhooks.stores.outbox.complete(open, DELIVERED);
      const list = async (query: object) =>
        (await webhooks.stores.history.list({ endpointId: endpoint.id, limit: 10, ...query })).map(
          ({ id }) => id,
        );

      expect(await list({})).toEqual(ids);
      expect(await list({ limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await list({ after: ids[1] })).toEqual(ids.slice(2));
      expect(await list({ state: "delivered" })).toEqual([open.id]);
      expect(await list({ state: "waiting" })).toEqual(ids.filter((id) => id !== open.id));
    });

    test("the history has every try of a delivery", async () => {
      const endpoint = await webhooks.anEndpoint();
      const delivery = await webhooks.aDelivery(endpoint);
      await webhooks.completeNext(endpoint, retried(0));
      await webhooks.completeNext(endpoint, DEAD);

      const { history, ...rest } = (await webhooks.find(delivery)) ?? expect.fail("It is gone.");

      expect(rest).toMatchObject({ state: "dead", error: "It is gone.", tries: 2 });
      expect(rest.dueAt).toBeUndefined();
      expect(history).toEqual([
        { number: 1, at: expect.any(Date), durationMs: 15_000, error: "There was no answer." },
        { number: 2, at: expect.any(Date), durationMs: 12, status: 410, error: "It is gone." },
      ]);
    });

    test("the history has only deliveries of the endpoint", async () => {
      const [one, other] = [await webhooks.anEndpoint(), await webhooks.anEndpoint()];
      const delivery = await webhooks.aDelivery(one);

      expect(await webhooks.stores.history.find(other.id, delivery.id)).toBeUndefined();
      expect(await webhooks.stores.history.replay(other.id, { id: delivery.id }, 10)).toBe(0);
      expect(await webhooks.stores.history.replay(one.id, { id: newId(new Date()) }, 10)).toBe(0);
    });

    test("a delivery that is sent again starts at the beginning of the retry schedule", async () => {
      const endpoint = await webhooks.anEndpoint();
      const delivery = await webhooks.aDelivery(endpoint);
      await webhooks.completeNext(endpoint, DELIVERED);

      expect(await webhooks.stores.history.replay(endpoint.id, { id: delivery.id }, 10)).toBe(1);

      expect(await webhooks.find(delivery)).toMatchObject({ state: "waiting", tries: 1 });
      expect((await webhooks.find(delivery))?.settledAt).toBeUndefined();
      expect(await webhooks.take(endpoint)).toMatchObject({
        id: delivery.id,
        number: 2,
        step: 1,
        body: delivery.body,
      });
    });

    test("all deliveries given up in a period can be sent again", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [first, sent] = [await webhooks.aDelivery(endpoint), await webhooks.aDelivery(endpoint)];
      for (const completed of [DEAD, DELIVERED]) {
        await webhooks.completeNext(endpoint, completed);
      }
      await harness().passTime(60_000);
      const second = await webhooks.aDelivery(endpoint);
      await webhooks.completeNext(endpoint, DEAD);
      const dead = [first, second, sent].filter(({ id }) => id !== undefined);
      const createdAt = async (delivery: NewWebhookDelivery) =>
        (await webhooks.find(delivery))?.createdAt ?? expect.fail("It is gone.");
      const [since, until] = [await createdAt(first), await createdAt(second)];

      expect(await webhooks.stores.history.replay(endpoint.id, { since: until, until: since }, 10)).toBe(0);
      expect(await webhooks.stores.history.replay(endpoint.id, { since, until }, 10)).toBe(1);
      expect(await webhooks.stores.history.replay(endpoint.id, { since }, 10)).toBe(1);

      const states = await Promise.all(dead.map(async (delivery) => (await webhooks.find(delivery))?.state));
      expect(states.toSorted()).toEqual(["delivered", "waiting", "waiting"]);
    });

    test("at most the requested number of deliveries is sent again, oldest first", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [newest, middle, oldest] = await three(endpoint);
      for (let index = 0; index < 3; index += 1) {
        await webhooks.completeNext(endpoint, DEAD);
      }
      const replay = () => webhooks.stores.history.replay(endpoint.id, { since: new Date(0) }, 2);

      expect(await replay()).toBe(2);

      const ids = async (state: "waiting" | "dead") =>
        (await webhooks.stores.history.list({ endpointId: endpoint.id, limit: 10, state })).map(
          ({ id }) => id,
        );
      expect(await ids("waiting")).toEqual([middle, oldest]);
      expect(await ids("dead")).toEqual([newest]);
      expect(await replay()).toBe(1);
    });

    test("waiting deliveries of a disabled endpoint are given up", async () => {
      const endpoint = await webhooks.anEndpoint();
      const deliveries = [await webhooks.aDelivery(endpoint), await webhooks.aDelivery(endpoint)];
      const other = await webhooks.aDelivery(await webhooks.anEndpoint());
      await webhooks.stores.endpoints.replace({ ...endpoint, enabled: false });

      while (await webhooks.stores.history.prune(3_600_000, 1)) {}

      for (const delivery of deliveries) {
        const dead = { state: "dead", error: "The endpoint was switched off.", settledAt: expect.any(Date) };
        expect(await webhooks.find(delivery)).toMatchObject(dead);
      }
      expect(await webhooks.find(other)).toMatchObject({ state: "waiting" });
    });

    test("deliveries completed long ago are deleted", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [waiting, old] = [await webhooks.aDelivery(endpoint), await webhooks.aDelivery(endpoint)];
      await webhooks.completeNext(endpoint, DELIVERED);
      await harness().passTime(3_600_000);
      const young = await webhooks.aDelivery(endpoint, { type: "webhook.test" });
      await webhooks.stores.outbox.giveUp(endpoint.id, "no more");
      const all = [waiting, old, young];
      await webhooks.stores.history.replay(endpoint.id, { id: waiting.id }, 10);

      while (await webhooks.stores.history.prune(1_800_000, 1)) {}

      const states = await Promise.all(all.map(async (delivery) => (await webhooks.find(delivery))?.state));
      expect(states.filter((state) => state === undefined)).toHaveLength(1);
      expect(await webhooks.find(waiting)).toMatchObject({ state: "waiting" });
      expect(await webhooks.find(young)).toMatchObject({ state: "dead" });
    });
  });
}
