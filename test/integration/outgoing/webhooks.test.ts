import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebhookFanOut } from "../../../src/core/team/webhooks/webhook-fan-out.ts";
import { WebhookSender } from "../../../src/core/team/webhooks/webhook-sender.ts";
import { startWebhooks } from "../../../src/core/team/webhooks/webhook-worker.ts";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { createWebhookClient } from "../../../src/outgoing/http-webhook-client.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  answerWith,
  type ReceivedPost,
  startWebhookReceiver,
  type WebhookReceiver,
} from "../../support/webhook-receiver.ts";
import { call, createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

const WEBHOOKS = "/api/v1/agent/webhooks";
const ALLOWED = "127.0.0.1";

let harness: ApiHarness;
let receiver: WebhookReceiver;
let stop: () => Promise<unknown>;
beforeAll(async () => {
  harness = await startHarness({ webhookAllow: ALLOWED });
  const workers = [aWorker(), aWorker(), aWorker()];
  stop = () => Promise.all(workers.map((end) => end()));
});
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  const { webhooks } = (await call(harness, WEBHOOKS)).body;
  for (const { id } of webhooks) {
    await call(harness, `${WEBHOOKS}/${id}`, { method: "DELETE" });
  }
  await receiver.close();
});
afterAll(async () => {
  await stop();
  await harness.close();
});

/** As each worker process has it. */
function aWorker(): () => Promise<void> {
  const { clock, pubsub, storage } = harness;
  const client = createWebhookClient({
    destinations: new Destinations(parseAllowList(ALLOWED)),
    limitMs: 500,
  });
  const sessionLink = ({ sessionId }: { sessionId: string }) => `http://here/sessions/${sessionId}`;
  return startWebhooks({
    fanOut: new WebhookFanOut({ storage, log: SILENT_LOG, sessionLink, redact: (text) => text }),
    sender: new WebhookSender({ storage, client, box: harness.secrets, clock, log: SILENT_LOG }),
    history: storage.webhooks.history,
    ...{ clock, pubsub, log: SILENT_LOG },
  });
}

async function aWebhook(body: object = {}): Promise<{ id: string; secret: string }> {
  const answer = await call(harness, WEBHOOKS, { body: { url: receiver.url, ...body } });
  expect(answer.status).toBe(201);
  return answer.body;
}

const verified = ({ body, headers }: ReceivedPost, secret: string) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string;
    data: { run_id: string; seq: number; state: string };
  };

const arrived = (count: number) =>
  waitFor(() => receiver.posts.length >= count, { what: `${count} messages` }).then(() => receiver.posts);

async function settled(webhookId: string, deliveryId: string, state: string) {
  const path = `${WEBHOOKS}/${webhookId}/deliveries/${deliveryId}`;
  return waitFor(
    async () => {
      const { body } = await call(harness, path);
      return body.history.length > 0 && body.state === state && body;
    },
    { what: `the delivery to be ${state}` },
  );
}

describe("a webhook", () => {
  test("a webhook receives the signed events of a run in order", async () => {
    const { secret } = await aWebhook();

    const runId = await createRun(harness);
    await harness.edit(runId, (edit) => edit.moveTo("PENDING"));
    await harness.edit(runId, (edit) => edit.moveTo("CANCELLED"));

    const told = (await arrived(3)).map((post) => verified(post, secret));
    expect(told.map(({ type, data }) => [type, data.run_id, data.seq, data.state])).toEqual([
      ["run.created", runId, 1, "QUEUED"],
      ["run.pending", runId, 2, "PENDING"],
      ["run.cancelled", runId, 3, "CANCELLED"],
    ]);
  });

  test("a webhook receives each of many events once from several workers", async () => {
    const { id, secret } = await aWebhook({ events: ["run.created"] });
    const runIds = await Promise.all(Array.from({ length: 25 }, () => createRun(harness)));

    const posts = await arrived(25);
    await waitFor(
      async () =>
        (await call(harness, `${WEBHOOKS}/${id}/deliveries?state=waiting`)).body.deliveries.length === 0,
      { what: "everything to be delivered" },
    );

    expect(posts.map((post) => verified(post, secret).data.run_id).toSorted()).toEqual(runIds.toSorted());
    expect((await call(harness, `${WEBHOOKS}/${id}/deliveries?limit=100`)).body.deliveries).toHaveLength(25);
  });

  test("a webhook message is signed with the old and the new secret during a rotation", async () => {
    const { id, secret: old } = await aWebhook();
    const { body } = await call(harness, `${WEBHOOKS}/${id}/rotate-secret`, { method: "POST" });

    await call(harness, `${WEBHOOKS}/${id}/test`, { method: "POST" });

    const [post = expect.fail("Nothing arrived.")] = await arrived(1);
    expect(verified(post, old).type).toBe("webhook.test");
    expect(verified(post, body.secret).type).toBe("webhook.test");
    await call(harness, `${WEBHOOKS}/${id}/rotate-secret`, { body: { overlap_seconds: 0 } });
    await call(harness, `${WEBHOOKS}/${id}/test`, { method: "POST" });
    const last = (await arrived(2)).at(-1) ?? expect.fail("Nothing arrived.");
    expect(() => verified(last, body.secret)).toThrow("No matching signature");
  });

  test("the delivery history records attempts that end in a redirect, a time-out or a 503", async () => {
    const { id } = await aWebhook();
    const answers = [
      answerWith(302, { location: receiver.url }),
      () => undefined,
      answerWith(503, { "retry-after": "60" }),
    ];
    const deliveries: string[] = [];
    for (const answer of answers) {
      receiver.answer = answer;
      const { body } = await call(harness, `${WEBHOOKS}/${id}/test`, { method: "POST" });
      deliveries.push(body.id);
      await settled(id, body.id, "waiting");
    }

    const tries = await Promise.all(
      deliveries.map(async (delivery) => (await settled(id, delivery, "waiting")).history[0]),
    );

    expect(tries.map(({ status, error }) => [status, error])).toEqual([
      [302, "The receiver answered HTTP 302."],
      [undefined, "There was no answer within 500 ms."],
      [503, "The receiver answered HTTP 503."],
    ]);
    const { next_try_at } = await settled(id, deliveries[2] ?? "", "waiting");
    expect(Date.parse(next_try_at)).toBeGreaterThan(Date.now() + 50_000);
  });

  test("a webhook that answers 410 is disabled, and a subscribed webhook receives an event about it", async () => {
    const other = await startWebhookReceiver();
    const { id } = await aWebhook();
    const { secret } = await aWebhook({ url: other.url, events: ["webhook.disabled"] });
    receiver.answer = answerWith(410);

    await createRun(harness);

    const [post] = await waitFor(() => other.posts.length > 0 && other.posts, { what: "the notice" });
    expect(verified(post ?? expect.fail("There is no notice."), secret)).toMatchObject({
      type: "webhook.disabled",
      data: { webhook_id: id, url: receiver.url, reason: "The receiver answered 410 Gone." },
    });
    expect((await call(harness, `${WEBHOOKS}/${id}`)).body).toMatchObject({
      enabled: false,
      disabled_reason: "The receiver answered 410 Gone.",
    });
    const { deliveries } = (await call(harness, `${WEBHOOKS}/${id}/deliveries`)).body;
    expect(
      deliveries.map(({ state, type }: { state: string; type: string }) => [type, state]).toSorted(),
    ).toEqual([
      ["run.created", "dead"],
      ["webhook.disabled", "dead"],
    ]);
    expect(receiver.posts).toHaveLength(1);
    await other.close();
  });

  test("a replayed webhook delivery has the same id and body", async () => {
    const { id, secret } = await aWebhook();
    const runId = await createRun(harness);
    const [first = expect.fail("Nothing arrived.")] = await arrived(1);
    const delivery = String(first.headers["webhook-id"]);
    await settled(id, delivery, "delivered");

    await call(harness, `${WEBHOOKS}/${id}/deliveries/${delivery}/replay`, { method: "POST" });

    const second = (await arrived(2)).at(-1) ?? expect.fail("Nothing arrived.");
    expect([second.headers["webhook-id"], second.body]).toEqual([delivery, first.body]);
    expect(verified(second, secret).data.run_id).toBe(runId);
    expect((await settled(id, delivery, "delivered")).history).toHaveLength(2);
  });
});
