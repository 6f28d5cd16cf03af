import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newId, type RunId } from "../../../../../src/core/basics/ids.ts";
import {
  secretOwner,
  WEBHOOK_EVENT_TYPES,
  type WebhookEndpoint,
} from "../../../../../src/core/model/webhooks/webhook.ts";
import { RETRY_PAUSES_MS } from "../../../../../src/core/team/webhooks/complete-try.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { answered, hangs, WebhookHarness } from "./webhook-harness.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let harness: WebhookHarness;
beforeEach(() => {
  harness = new WebhookHarness();
  // Removes the random part of the pauses.
  vi.spyOn(Math, "random").mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stopped();
  expect(harness.clock.pending).toBe(0);
});

/** Stops the sender at once, or when open posts are aborted. */
async function stopped(): Promise<void> {
  const stopping = harness.sender.stop();
  await harness.clock.advance(1_000);
  await stopping;
}

const messages = () => harness.lines.map(({ message }) => message);
const aboutRun = () => ({ runId: newId<RunId>(new Date()), seq: 1 });

describe("a delivery", () => {
  test("an accepted delivery is sent once, signed with the endpoint's secret", async () => {
    const endpoint = await harness.anEndpoint();
    const delivery = await harness.aDelivery(endpoint);

    await harness.send();
    await harness.pass(DAY_MS);

    const { id, body } = delivery;
    expect(harness.receivers.posts).toEqual([{ id, body, url: endpoint.url, secrets: ["whsec_1"] }]);
    expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered", tries: 1 });
    expect(messages()).toEqual(["webhook.delivered"]);
  });

  test("a delivery is retried by the schedule as the same message and then given up", async () => {
    const endpoint = await harness.anEndpoint();
    const delivery = await harness.aDelivery(endpoint);
    harness.receivers.answer = async () => answered(500);

    await harness.send();
    for (const [index, pauseMs] of RETRY_PAUSES_MS.entries()) {
      await harness.pass(pauseMs - 1);
      expect(harness.receivers.posts).toHaveLength(index + 1);
      await harness.pass(1);
      expect(harness.receivers.posts).toHaveLength(index + 2);
    }
    await harness.pass(DAY_MS);

    expect(new Set(harness.receivers.posts.map(({ id }) => id))).toEqual(new Set([delivery.id]));
    expect(await harness.delivery(delivery)).toMatchObject({
      state: "dead",
      error: "The receiver answered HTTP 500.",
      tries: 10,
    });
    expect((await harness.delivery(delivery)).history.map(({ number }) => number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    expect(messages()).toEqual([...RETRY_PAUSES_MS.map(() => "webhook.retried"), "webhook.dead"]);
    expect(await harness.endpoint(endpoint)).toMatchObject({
      enabled: true,
      failingSince: new Date("2026-03-01T12:00:00.000Z"),
    });
  });

  test("a delivery of a process that died is sent again", async () => {
    const endpoint = await harness.anEndpoint();
    const delivery = await harness.aDelivery(endpoint);
    await harness.storage.webhooks.outbox.take([]);

    await harness.pass(59_000);
    expect(harness.receivers.posts).toEqual([]);
    await harness.pass(1_000);

    expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered", tries: 2 });
  });

  test("a delivery whose endpoint is deleted meanwhile is dropped", async () => {
    const endpoint = await harness.anEndpoint();
    await harness.aDelivery(endpoint);
    harness.receivers.answer = async () => {
      await harness.storage.webhooks.endpoints.remove(endpoint.teamId, endpoint.id);
      return answered(410);
    };

    await harness.send();

    expect(messages()).toEqual([]);
  });
});

describe("a receiver that answers with Retry-After", () => {
  test("a receiver with Retry-After gets nothing for that time, and others are served", async () => {
    const [busy, other] = [
      await harness.anEndpoint(),
      await harness.anEndpoint({ url: "https://other.example" }),
    ];
    const first = await harness.aDelivery(busy, { about: aboutRun() });
    harness.receivers.answer = async ({ url }) => (url === busy.url ? answered(429, 30_000) : answered(200));
    await harness.send();

    const second = await harness.aDelivery(busy, { about: aboutRun() });
    await harness.aDelivery(other);
    await harness.pass(29_000);
    expect(harness.receivers.posts.map(({ url }) => url)).toEqual([busy.url, other.url]);
    harness.receivers.answer = async () => answered(200);
    await harness.pass(1_000);

    expect(await harness.delivery(first)).toMatchObject({ state: "delivered", tries: 2 });
    expect(await harness.delivery(second)).toMatchObject({ state: "delivered", tries: 1 });
  });

  test("a receiver with Retry-After gets its other deliveries after at most five minutes", async () => {
    const endpoint = await harness.anEndpoint();
    const first = await harness.aDelivery(endpoint, { about: aboutRun() });
    harness.receivers.answer = async () => answered(503, DAY_MS);
    await harness.send();
    harness.receivers.answer = async () => answered(200);
    const second = await harness.aDelivery(endpoint, { about: aboutRun() });

    await harness.pass(300_000);

    expect(await harness.delivery(second)).toMatchObject({ state: "delivered" });
    expect(await harness.delivery(first)).toMatchObject({ state: "waiting" });
  });
});

describe("a failing endpoint", () => {
  test("an endpoint with five days of failures only is disabled with a notice", async () => {
    const endpoint = await harness.anEndpoint();
    const other = await harness.anEndpoint({ events: ["webhook.disabled"], url: "https://other.example" });
    const stranger = await harness.anEndpoint();
    harness.receivers.answer = async ({ url }) => answered(url === other.url ? 200 : 500);
    await harness.aDelivery(endpoint, { about: aboutRun() });
    await harness.send();
    for (let day = 1; day <= 5; day += 1) {
      expect(await harness.endpoint(endpoint)).toMatchObject({ enabled: true });
      await harness.pass(DAY_MS - 1);
      await harness.aDelivery(endpoint, { about: aboutRun() });
      await harness.pass(1);
    }

    await harness.send();

    const reason = "Every try of the last 5 days failed. The receiver answered HTTP 500.";
    expect(await harness.endpoint(endpoint)).toMatchObject({ enabled: false, disabledReason: reason });
    const deliveries = await harness.deliveriesOf(endpoint);
    expect(deliveries.every(({ id }) => id !== undefined)).toBe(true);
    const states = await Promise.all(
      deliveries.map(async (delivery) => (await harness.delivery(delivery)).state),
    );
    expect(new Set(states)).toEqual(new Set(["dead"]));
    const notice =
      deliveries.find(({ type }) => type === "webhook.disabled") ?? expect.fail("There is no notice.");
    expect(await harness.delivery(notice)).toMatchObject({
      error: `The endpoint was switched off. ${reason}`,
    });
    const post = harness.receivers.posts.find(({ url }) => url === other.url);
    expect(JSON.parse(post?.body ?? "{}")).toMatchObject({
      type: "webhook.disabled",
      data: { webhook_id: endpoint.id, url: endpoint.url, reason },
    });
    expect(await harness.deliveriesOf(stranger)).toEqual([]);
    expect(harness.lines).toContainEqual({
      level: "warn",
      message: "webhook.disabled",
      facts: { endpointId: endpoint.id, reason },
    });
  });

  test("an endpoint that is gone is disabled at once, and its deliveries are given up", async () => {
    const endpoint = await harness.anEndpoint({ events: [...WEBHOOK_EVENT_TYPES] });
    harness.receivers.answer = async () => answered(410);
    const about = aboutRun();
    const first = await harness.aDelivery(endpoint, { about });
    const second = await harness.aDelivery(endpoint, { about: { ...about, seq: 2 } });

    await harness.send();
    await harness.pass(DAY_MS);

    expect(harness.receivers.posts).toHaveLength(1);
    expect(await harness.endpoint(endpoint)).toMatchObject({
      enabled: false,
      disabledReason: "The receiver answered 410 Gone.",
    });
    expect(await harness.delivery(first)).toMatchObject({
      state: "dead",
      error: "The receiver answered HTTP 410.",
    });
    expect(await harness.delivery(second)).toMatchObject({ state: "dead", tries: 0 });
  });

  test("one success resets the failures of an endpoint", async () => {
    const endpoint = await harness.anEndpoint();
    const delivery = await harness.aDelivery(endpoint);
    const failing = async () => answered(500);
    harness.receivers.answer = failing;
    await harness.send();
    await harness.pass(HOUR_MS);
    expect(await harness.endpoint(endpoint)).toMatchObject({ failingSince: expect.any(Date) });

    harness.receivers.answer = async () => answered(200);
    await harness.pass(HOUR_MS);

    expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered" });
    expect((await harness.endpoint(endpoint))?.failingSince).toBeUndefined();
    harness.receivers.answer = failing;
    await harness.clock.advance(4.9 * DAY_MS);
    await harness.aDelivery(endpoint);
    await harness.pass(1);
    expect(await harness.endpoint(endpoint)).toMatchObject({ enabled: true });
  });
});

describe("an endpoint whose address changes during a delivery", () => {
  /** Makes the old address answer after the endpoint got a new one. */
  async function answeredLate(
    status: number,
    health: Partial<WebhookEndpoint> = {},
  ): Promise<WebhookEndpoint> {
    const endpoint = await harness.anEndpoint();
    const moved = { ...endpoint, url: "https://new.example", ...health };
    harness.receivers.answer = async ({ url }) => {
      if (url === moved.url) {
        return answered(200);
      }
      await harness.storage.webhooks.endpoints.replace(moved);
      return answered(status);
    };
    return moved;
  }

  test.each([410, 500])(
    "a %i of the old address does not count, and the new address gets the message",
    async (status) => {
      const moved = await answeredLate(status);
      const delivery = await harness.aDelivery(moved);

      await harness.send();

      expect(await harness.endpoint(moved)).toEqual(moved);
      expect(await harness.delivery(delivery)).toMatchObject({ state: "waiting", tries: 1 });
      await harness.pass(DAY_MS);
      expect(harness.receivers.posts.at(-1)).toMatchObject({ url: moved.url });
      expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered", tries: 2 });
    },
  );

  test("a success of the old address does not reset the failures", async () => {
    const moved = await answeredLate(200, { failingSince: harness.clock.now() });
    const delivery = await harness.aDelivery(moved);

    await harness.send();

    expect(await harness.endpoint(moved)).toEqual(moved);
    expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered" });
  });
});

describe("receivers that do not answer", () => {
  test("an unresponsive receiver blocks no other endpoint and at most two of its own posts", async () => {
    const [slow, quick] = [
      await harness.anEndpoint(),
      await harness.anEndpoint({ url: "https://quick.example" }),
    ];
    harness.receivers.answer = (message, stop) =>
      message.url === slow.url ? hangs(message, stop) : Promise.resolve(answered(200));
    for (let index = 0; index < 30; index += 1) {
      await harness.aDelivery(slow);
    }
    const last = await harness.aDelivery(quick);

    await harness.send();
    await harness.pass(1_000);

    expect(harness.receivers.open).toBe(2);
    expect(await harness.delivery(last)).toMatchObject({ state: "delivered" });
  });

  test("at most eight posts are sent at a time", async () => {
    harness.receivers.answer = hangs;
    for (let index = 0; index < 30; index += 1) {
      await harness.aDelivery(await harness.anEndpoint());
    }

    await harness.send();
    await harness.pass(1_000);

    expect(harness.receivers.open).toBe(8);
  });

  test("late answers are recorded before the sender stops", async () => {
    let answer = (): void => undefined;
    harness.receivers.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve(answered(200));
      });
    const endpoint = await harness.anEndpoint();
    const delivery = await harness.aDelivery(endpoint);
    await harness.send();
    const stopping = harness.sender.stop();
    await harness.aDelivery(endpoint);

    answer();
    await stopping;

    expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered" });
    expect(harness.receivers.posts).toHaveLength(1);
  });

  test("open posts are aborted by a stop and sent again by the next sender", async () => {
    harness.receivers.answer = hangs;
    const delivery = await harness.aDelivery(await harness.anEndpoint());
    await harness.send();

    const stopping = harness.sender.stop();
    await harness.clock.advance(999);
    expect(harness.receivers.open).toBe(1);
    await harness.clock.advance(1);
    await stopping;
    await harness.send();

    expect(harness.receivers.posts).toHaveLength(1);
    expect(await harness.delivery(delivery)).toMatchObject({ state: "waiting", tries: 1 });
    expect(messages()).toEqual([]);
  });
});

describe("the secrets of an endpoint", () => {
  test("both secrets sign during a rotation, and only the newest one afterwards", async () => {
    const { id } = await harness.anEndpoint();
    const seal = (secret: string) => harness.box.seal(secret, secretOwner(id));
    const expiresAt = new Date(harness.clock.now().getTime() + HOUR_MS);
    const secrets = [{ sealed: seal("whsec_2") }, { sealed: seal("whsec_1"), expiresAt }];
    const endpoint = await harness.anEndpoint({ id, secrets });

    await harness.aDelivery(endpoint);
    await harness.pass(HOUR_MS - 1);
    await harness.aDelivery(endpoint);
    await harness.pass(1);

    expect(harness.receivers.posts.map(({ secrets }) => secrets)).toEqual([
      ["whsec_2", "whsec_1"],
      ["whsec_2"],
    ]);
  });

  test("a secret of another endpoint does not open, and the failure says what to do", async () => {
    const endpoint = await harness.anEndpoint({
      secrets: [{ sealed: harness.box.seal("whsec_1", secretOwner("other")) }],
    });
    const delivery = await harness.aDelivery(endpoint);

    await harness.send();

    expect(harness.receivers.posts).toEqual([]);
    const error = "The endpoint's secret cannot be read. Rotate it.";
    expect(await harness.delivery(delivery)).toMatchObject({ state: "waiting", error });
    expect(harness.lines).toContainEqual(
      expect.objectContaining({ level: "error", message: "webhook.secret.unreadable" }),
    );
    expect(JSON.stringify(harness.lines)).not.toContain("whsec_1");
  });
});

test("a sender without storage logs that and continues when the storage is back", async () => {
  const delivery = await harness.aDelivery(await harness.anEndpoint());
  const take = vi.spyOn(harness.storage.webhooks.outbox, "take").mockRejectedValueOnce(new Error("away"));

  await harness.send();
  expect(messages()).toEqual(["webhook.send.failed"]);
  await harness.send();
  await quiet();

  expect(take.mock.calls.length).toBeGreaterThan(1);
  expect(await harness.delivery(delivery)).toMatchObject({ state: "delivered" });
});
