import { afterEach, beforeEach, expect, test } from "vitest";
import { startWebhooks } from "../../../../src/core/webhooks/webhook-worker.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { WebhookBench } from "./webhook-bench.ts";

let bench: WebhookBench;
let stop: () => Promise<void>;
beforeEach(() => {
  bench = new WebhookBench();
  start();
});
afterEach(async () => {
  await stop();
  expect(bench.clock.pending).toBe(0);
});

function start(): void {
  const { clock, fanOut, log, news, sender, storage } = bench;
  stop = startWebhooks({ clock, fanOut, log, news, sender, history: storage.webhooks.history });
}

test("what happens is told soon, by news alone", async () => {
  await bench.anEndpoint();
  await bench.aRun();
  bench.news.tell(["log"]);

  await bench.clock.advance(200);

  expect(bench.receivers.posts).toHaveLength(1);
});

test("what happens is told without news", async () => {
  await bench.anEndpoint();
  await bench.aRun();

  await bench.clock.advance(1_000);
  await bench.clock.advance(1_000);

  expect(bench.receivers.posts).toHaveLength(1);
});

test("much news is one look at the log", async () => {
  await bench.anEndpoint();
  await bench.aRun();
  for (let index = 0; index < 10; index += 1) {
    bench.news.tell(["log"]);
    await bench.clock.advance(10);
  }

  await bench.clock.advance(100);
  expect(bench.receivers.posts).toHaveLength(1);
  await bench.aRun();
  await bench.clock.advance(190);

  // Nothing is left of the first news, so the look for this run is still to come.
  expect(bench.receivers.posts).toHaveLength(1);
});

test("history is kept for thirty days", async () => {
  const endpoint = await bench.anEndpoint();
  for (let index = 0; index < 3; index += 1) await bench.aDelivery(endpoint);
  await bench.send();
  const passDays = async (days: number) => {
    await stop();
    await bench.clock.advance(days * 86_400_000);
    start();
    await bench.clock.advance(60_000);
  };

  await passDays(29);
  expect(await bench.told(endpoint)).toHaveLength(3);
  await passDays(1);

  expect(await bench.told(endpoint)).toEqual([]);
});

test("nothing is sent any more after the stop", async () => {
  bench.news.tell(["log"]);
  await quiet();
  await stop();
  expect(bench.clock.pending).toBe(0);
  await bench.aDelivery(await bench.anEndpoint());

  bench.news.tell(["webhooks", "log"]);
  await quiet();
  await bench.clock.advance(60_000);

  expect(bench.receivers.posts).toEqual([]);
});
