import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startWebhooks } from "../../../../../src/core/team/webhooks/webhook-worker.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { answered, WebhookHarness } from "./webhook-harness.ts";

let harness: WebhookHarness;
let stop: () => Promise<void>;
beforeEach(() => {
  harness = new WebhookHarness();
  start();
});
afterEach(async () => {
  await stop();
  expect(harness.clock.pending).toBe(0);
});

function start(): void {
  const { clock, fanOut, log, pubsub, sender, storage } = harness;
  stop = startWebhooks({ clock, fanOut, log, pubsub, sender, history: storage.webhooks.history });
}

test("a notification alone leads to a delivery soon", async () => {
  await harness.anEndpoint();
  await harness.aRun();
  harness.pubsub.publish(["log"]);

  await harness.clock.advance(200);

  expect(harness.receivers.posts).toHaveLength(1);
});

test("events are delivered without a notification", async () => {
  await harness.anEndpoint();
  await harness.aRun();

  await harness.clock.advance(1_000);
  await harness.clock.advance(1_000);

  expect(harness.receivers.posts).toHaveLength(1);
});

test("a message that failed is sent again soon after it is due", async () => {
  await harness.clock.advance(60_000);
  harness.receivers.answer = async () => answered(500);
  await harness.aDelivery(await harness.anEndpoint());
  await quiet();
  harness.receivers.answer = async () => answered(204);

  // The first retry is due after 5 s, or a little later.
  for (let second = 0; second < 8; second += 1) {
    await harness.clock.advance(1_000);
  }

  expect(harness.receivers.posts).toHaveLength(2);
});

test("while no message waits, due messages are looked for every ten seconds", async () => {
  const take = vi.spyOn(harness.storage.webhooks.outbox, "take");

  for (let second = 0; second < 60; second += 1) {
    await harness.clock.advance(1_000);
  }

  expect(take).toHaveBeenCalledTimes(6);
});

test("many notifications lead to one read of the log", async () => {
  await harness.anEndpoint();
  await harness.aRun();
  for (let index = 0; index < 10; index += 1) {
    harness.pubsub.publish(["log"]);
    await harness.clock.advance(10);
  }

  await harness.clock.advance(100);
  expect(harness.receivers.posts).toHaveLength(1);
  await harness.aRun();
  await harness.clock.advance(190);

  // The first notifications are used up, so the log has not been read for this run yet.
  expect(harness.receivers.posts).toHaveLength(1);
});

test("the history of deliveries is kept for thirty days", async () => {
  const endpoint = await harness.anEndpoint();
  for (let index = 0; index < 3; index += 1) {
    await harness.aDelivery(endpoint);
  }
  await harness.send();
  const passDays = async (days: number) => {
    await stop();
    await harness.clock.advance(days * 86_400_000);
    start();
    await harness.clock.advance(60_000);
  };

  await passDays(29);
  expect(await harness.deliveriesOf(endpoint)).toHaveLength(3);
  await passDays(1);

  expect(await harness.deliveriesOf(endpoint)).toEqual([]);
});

test("nothing is sent after the stop", async () => {
  harness.pubsub.publish(["log"]);
  await quiet();
  await stop();
  expect(harness.clock.pending).toBe(0);
  await harness.aDelivery(await harness.anEndpoint());

  harness.pubsub.publish(["webhooks", "log"]);
  await quiet();
  await harness.clock.advance(60_000);

  expect(harness.receivers.posts).toEqual([]);
});
