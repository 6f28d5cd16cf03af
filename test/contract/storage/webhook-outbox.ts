import { describe, expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { WebhookEndpoint } from "../../../src/core/model/webhooks/webhook.ts";
import { aDelivery } from "../../support/webhook-builders.ts";
import { aTeam, type StorageHarness } from "./harness.ts";
import { DEAD, DELIVERED, retried, WebhookHarness } from "./webhook-harness.ts";

const aboutRun = (runId: RunId, ...seqs: number[]) => seqs.map((seq) => ({ about: { runId, seq } }));
const aRunId = () => newId<RunId>(new Date());

export function describeWebhookOutbox(harness: () => StorageHarness): void {
  const webhooks = new WebhookHarness(harness);

  describe("endpoints", () => {
    test("endpoints are returned as stored, with all members and with the minimum", async () => {
      const teamId = await aTeam(harness());
      const least = await webhooks.anEndpoint({ teamId });
      const most = await webhooks.anEndpoint({
        teamId,
        description: "Tells the board",
        events: ["run.failed", "webhook.disabled"],
        enabled: false,
        disabledReason: "The receiver answered 410 Gone.",
        secrets: [{ sealed: "new" }, { sealed: "old", expiresAt: new Date("2026-03-02T12:00:00.000Z") }],
        failingSince: new Date("2026-02-25T12:00:00.000Z"),
        createdAt: new Date("2026-03-01T11:00:01.000Z"),
      });

      expect(await webhooks.stores.endpoints.list(teamId)).toEqual([least, most]);
      await webhooks.stores.endpoints.replace({ ...least, id: most.id });
      expect(await webhooks.stores.outbox.lock(most.id)).toEqual({ ...least, id: most.id });
    });

    test("an endpoint that does not exist cannot be locked", async () => {
      expect(await webhooks.stores.outbox.lock(newId(new Date()))).toBeUndefined();
    });

    test("concurrent changes of a locked endpoint run one after another", async () => {
      const { id } = await webhooks.anEndpoint({ description: "" });
      const append = () =>
        harness().storage.atomically(async ({ webhooks: { endpoints, outbox } }) => {
          const held = (await outbox.lock(id)) ?? expect.fail("It is gone.");
          await endpoints.replace({ ...held, description: `${held.description}x` });
        });

      await Promise.all([1, 2, 3, 4, 5].map(append));

      expect(await webhooks.stores.outbox.lock(id)).toMatchObject({ description: "xxxxx" });
    });

    test("a removed endpoint is not found, and its deliveries are removed with it", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [first, second] = [await webhooks.aDelivery(endpoint), await webhooks.aDelivery(endpoint)];

      await webhooks.stores.history.detach(endpoint.id);

      expect(await webhooks.stores.endpoints.find(endpoint.teamId, endpoint.id)).toBeUndefined();
      expect(await webhooks.stores.outbox.lock(endpoint.id)).toBeUndefined();
      expect(await webhooks.take(endpoint)).toBeUndefined();
      while (await webhooks.stores.history.prune(3_600_000, 1)) {}
      expect(await webhooks.find(first)).toBeUndefined();
      expect(await webhooks.find(second)).toBeUndefined();
    });
  });

  describe("messages for endpoints", () => {
    test("a message is taken with its endpoint and completed", async () => {
      const endpoint = await webhooks.anEndpoint();
      const delivery = await webhooks.aDelivery(endpoint, { about: { runId: aRunId(), seq: 3 } });

      const open = await webhooks.taken(endpoint);

      expect(open).toEqual({ ...delivery, endpoint, number: 1, step: 1 });
      expect(await webhooks.take(endpoint)).toBeUndefined();
      expect(await webhooks.stores.outbox.complete(open, DELIVERED)).toBe(true);
      expect(await webhooks.find(delivery)).toEqual({
        ...delivery,
        state: "delivered",
        tries: 1,
        createdAt: expect.any(Date),
        settledAt: expect.any(Date),
        history: [{ number: 1, at: expect.any(Date), durationMs: 12, status: 204 }],
      });
    });

    test("adding messages and sending them again is published", async () => {
      const endpoint = await webhooks.anEndpoint();
      harness().pubsub.length = 0;

      const delivery = await webhooks.aDelivery(endpoint);
      expect(harness().pubsub).toEqual(["webhooks"]);
      await webhooks.stores.history.replay(endpoint.id, { id: delivery.id }, 10);

      expect(harness().pubsub).toEqual(["webhooks", "webhooks"]);
    });

    test("messages about the same event of a run are stored once", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [about] = aboutRun(aRunId(), 1);
      const first = await webhooks.aDelivery(endpoint, about);
      await webhooks.stores.outbox.add([
        aDelivery(endpoint, about),
        aDelivery(endpoint),
        aDelivery(endpoint),
      ]);

      const deliveries = await webhooks.stores.history.list({ endpointId: endpoint.id, limit: 10 });

      expect(deliveries).toHaveLength(3);
      expect(deliveries.filter((delivery) => delivery.about !== undefined)).toMatchObject([{ id: first.id }]);
    });

    test("a message waits from its creation, also while it is tried", async () => {
      const endpoint = await webhooks.anEndpoint();
      await webhooks.aDelivery(endpoint);

      expect(await webhooks.stores.outbox.hasWaiting()).toBe(true);
      await webhooks.taken(endpoint);
      expect(await webhooks.stores.outbox.hasWaiting()).toBe(true);
    });

    test("each message is taken by one of many senders", async () => {
      const endpoint = await webhooks.anEndpoint();
      await webhooks.stores.outbox.add([1, 2, 3, 4].map(() => aDelivery(endpoint)));

      const all = await Promise.all([1, 2, 3, 4, 5, 6].map(() => webhooks.take(endpoint)));

      const ids = all.flatMap((delivery) => delivery?.id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
      expect([...ids, ...(await takeAll(endpoint))]).toHaveLength(4);
    });

    test("a message that is not completed is due again, and only the last sender can complete it", async () => {
      const endpoint = await webhooks.anEndpoint();
      await webhooks.aDelivery(endpoint);
      const lost = await webhooks.taken(endpoint);

      await harness().passTime(61_000);
      const again = await webhooks.taken(endpoint);

      expect(again).toMatchObject({ id: lost.id, number: 2, step: 2 });
      expect(await webhooks.stores.outbox.complete(lost, DELIVERED)).toBe(false);
      expect(await webhooks.stores.outbox.complete(again, DELIVERED)).toBe(true);
      expect(await webhooks.stores.outbox.complete(again, DELIVERED)).toBe(false);
    });

    test("a message waits until its retry is due", async () => {
      const endpoint = await webhooks.anEndpoint();
      const delivery = await webhooks.aDelivery(endpoint);
      await webhooks.completeNext(endpoint, retried(300_000));

      await harness().passTime(299_000);
      expect(await webhooks.take(endpoint)).toBeUndefined();
      expect(await webhooks.find(delivery)).toMatchObject({
        state: "waiting",
        error: "There was no answer.",
        tries: 1,
      });
      await harness().passTime(2_000);

      expect(await webhooks.take(endpoint)).toMatchObject({ id: delivery.id, number: 2, step: 2 });
    });

    test("messages of one run are sent in order", async () => {
      const endpoint = await webhooks.anEndpoint();
      const runId = aRunId();
      for (const about of aboutRun(runId, 3, 1, 2)) {
        await webhooks.aDelivery(endpoint, about);
      }
      const seqs: (number | undefined)[] = [];

      for (let index = 0; index < 3; index += 1) {
        const open = await webhooks.taken(endpoint);
        expect(await webhooks.take(endpoint)).toBeUndefined();
        seqs.push(open.about?.seq);
        await webhooks.stores.outbox.complete(open, index === 1 ? DEAD : DELIVERED);
      }

      expect(seqs).toEqual([1, 2, 3]);
    });

    test("messages wait for a retry of the same run, not for one of another run", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [first, second] = aboutRun(aRunId(), 1, 2);
      await webhooks.aDelivery(endpoint, first);
      const follower = await webhooks.aDelivery(endpoint, second);
      await webhooks.completeNext(endpoint, retried(300_000));
      const other = await webhooks.aDelivery(endpoint, aboutRun(aRunId(), 9)[0]);

      const free = await webhooks.taken(endpoint);
      // The delivery is postponed together with its predecessor, so that no worker tries to take it in vain.
      const { dueAt } = (await webhooks.find(follower)) ?? {};
      expect(dueAt?.getTime()).toBeGreaterThan(harness().clock.now().getTime() + 200_000);
      expect(free.id).toBe(other.id);
      expect(await webhooks.take(endpoint)).toBeUndefined();
      await webhooks.stores.outbox.complete(free, DELIVERED);
      await harness().passTime(301_000);
      expect(await webhooks.taken(endpoint)).toMatchObject({ ...first, number: 2 });
    });

    test("messages that waited for another one are due at once when it is completed", async () => {
      const endpoint = await webhooks.anEndpoint();
      const [first, second] = aboutRun(aRunId(), 1, 2);
      const head = await webhooks.aDelivery(endpoint, first);
      await webhooks.aDelivery(endpoint, second);
      await webhooks.completeNext(endpoint, retried(300_000));
      await webhooks.stores.history.replay(endpoint.id, { id: head.id }, 10);

      await webhooks.completeNext(endpoint, DELIVERED);

      expect(await webhooks.take(endpoint)).toMatchObject({ ...second, number: 1 });
    });

    test("messages of a busy or disabled endpoint are not taken", async () => {
      const endpoint = await webhooks.anEndpoint();
      await webhooks.aDelivery(endpoint);

      expect(await webhooks.stores.outbox.take(webhooks.everybody)).toBeUndefined();
      await webhooks.stores.endpoints.replace({ ...endpoint, enabled: false });
      expect(await webhooks.take(endpoint)).toBeUndefined();
    });

    test("all waiting messages of an endpoint can be given up together", async () => {
      const endpoint = await webhooks.anEndpoint();
      const sent = await webhooks.aDelivery(endpoint);
      await webhooks.completeNext(endpoint, DELIVERED);
      const [open, waiting] = [await webhooks.aDelivery(endpoint), await webhooks.aDelivery(endpoint)];
      const trying = await webhooks.taken(endpoint);

      await webhooks.stores.outbox.giveUp(endpoint.id, "It was switched off.");

      const dead = { state: "dead", error: "It was switched off.", settledAt: expect.any(Date) };
      expect(await webhooks.find(open)).toMatchObject(dead);
      expect(await webhooks.find(waiting)).toMatchObject(dead);
      expect(await webhooks.find(sent)).toMatchObject({ state: "delivered" });
      expect(await webhooks.stores.outbox.complete(trying, DELIVERED)).toBe(false);
    });

    async function takeAll(endpoint: WebhookEndpoint): Promise<readonly string[]> {
      const ids: string[] = [];
      for (
        let open = await webhooks.take(endpoint);
        open !== undefined;
        open = await webhooks.take(endpoint)
      ) {
        ids.push(open.id);
      }
      return ids;
    }
  });
}
