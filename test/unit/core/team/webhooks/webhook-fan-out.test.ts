import { beforeEach, describe, expect, test } from "vitest";
import { newId, type RunId, type TeamId } from "../../../../../src/core/basics/ids.ts";
import type { RunEventBody } from "../../../../../src/core/model/runs/events.ts";
import { RUN_STATES } from "../../../../../src/core/model/runs/states.ts";
import type { NewWebhookDelivery } from "../../../../../src/core/model/webhooks/webhook.ts";
import { WebhookHarness } from "./webhook-harness.ts";

let harness: WebhookHarness;
beforeEach(() => {
  harness = new WebhookHarness();
});

const moved = (to: (typeof RUN_STATES)[number], more: object = {}): RunEventBody => ({
  kind: "run.state",
  from: "QUEUED",
  to,
  ...more,
});

describe("an endpoint", () => {
  test("an endpoint gets every state change of a run once and in order", async () => {
    const endpoint = await harness.anEndpoint();
    const { id: runId } = await harness.aRun(
      {},
      RUN_STATES.map((state) => moved(state)),
    );

    await harness.fanOut.round();
    await harness.fanOut.round();

    const deliveries = (await harness.deliveriesOf(endpoint)).toSorted(bySeq);
    const expected = ["created", ...RUN_STATES.map((state) => state.toLowerCase())];
    expect(deliveries.map(({ about, type }) => [about, type])).toEqual(
      expected.map((name, index) => [{ runId, seq: index + 1 }, `run.${name}`]),
    );
  });

  test("an endpoint gets no other events", async () => {
    const endpoint = await harness.anEndpoint();
    const { id } = await harness.aRun();
    await harness.addEvents(
      id,
      { kind: "agent.message", text: "hello" },
      { kind: "agent.title", title: "x" },
    );

    await harness.fanOut.round();

    expect((await harness.deliveriesOf(endpoint)).map(({ type }) => type)).toEqual(["run.created"]);
  });

  test("an endpoint gets the events to which it subscribes", async () => {
    const endpoint = await harness.anEndpoint({ events: ["run.failed"] });
    await harness.aRun({}, [moved("SUCCEEDED")]);
    await harness.aRun({}, [moved("FAILED")]);

    await harness.fanOut.round();

    expect((await harness.deliveriesOf(endpoint)).map(({ type }) => type)).toEqual(["run.failed"]);
  });

  test("an endpoint gets nothing while disabled, of other teams, or of private runs", async () => {
    const [off, on] = [await harness.anEndpoint({ enabled: false }), await harness.anEndpoint()];
    await harness.aRun({ teamId: newId<TeamId>(new Date()) });
    await harness.aRun({ teamOwned: false });
    const { id: runId } = await harness.aRun();

    await harness.fanOut.round();

    expect(await harness.deliveriesOf(off)).toEqual([]);
    expect((await harness.deliveriesOf(on)).map(({ about }) => about)).toEqual([{ runId, seq: 1 }]);
  });

  test("an endpoint gets no events from before its creation", async () => {
    await harness.aRun();
    await harness.clock.advance(11_000);
    const endpoint = await harness.anEndpoint({ createdAt: harness.clock.now() });
    const { id: runId } = await harness.aRun();

    await harness.fanOut.round();

    expect((await harness.deliveriesOf(endpoint)).map(({ about }) => about)).toEqual([{ runId, seq: 1 }]);
  });

  test("concurrent readers of the log deliver each event to an endpoint once", async () => {
    const endpoint = await harness.anEndpoint();
    for (let index = 0; index < 20; index += 1) {
      await harness.aRun();
    }

    await Promise.all([harness.fanOut, harness.aFanOut(), harness.aFanOut()].map((fanOut) => fanOut.round()));

    expect(await harness.deliveriesOf(endpoint)).toHaveLength(20);
  });

  test("an endpoint gets more events than one read returns", async () => {
    const endpoint = await harness.anEndpoint({ events: ["run.created"] });
    const { id } = await harness.aRun();
    await harness.addEvents(id, ...Array.from({ length: 999 }, () => moved("PENDING")));
    await harness.aRun();

    await harness.fanOut.round();

    expect(await harness.deliveriesOf(endpoint)).toHaveLength(2);
  });
});

describe("a webhook message", () => {
  async function message(
    events: readonly RunEventBody[],
    origin: object = {},
  ): Promise<Record<string, unknown>> {
    const endpoint = await harness.anEndpoint();
    await harness.aRun(origin, events);
    await harness.fanOut.round();
    const deliveries = (await harness.deliveriesOf(endpoint)).toSorted(bySeq);
    return JSON.parse(deliveries.at(-1)?.body ?? "");
  }

  test("a message names the event, the run and the time with the member names of the API", async () => {
    const parent = newId<RunId>(new Date());
    const status = { message: "The model is away.", errorCode: "resource_unavailable", retryable: true };
    const origin = {
      metadata: { ticket: "T-1" },
      triggerUrl: "https://chat.example/1",
      ancestorIds: [parent],
    };

    const { data, ...rest } = await message([moved("ERROR", { status, reason: "x" })], origin);

    expect(rest).toEqual({ type: "run.error", timestamp: "2026-03-01T12:00:00.000Z" });
    expect(data).toEqual({
      run_id: expect.any(String),
      seq: 2,
      state: "ERROR",
      previous_state: "QUEUED",
      status_message: { message: "The model is away.", error_code: "resource_unavailable", retryable: true },
      title: "Fix the parser",
      source: "API",
      created_at: "2026-03-01T12:00:00.000Z",
      session_link: expect.stringMatching(/^https:\/\/errand.example\/sessions\/[\da-f-]{36}$/),
      conversation_id: expect.any(String),
      parent_run_id: parent,
      trigger_url: "https://chat.example/1",
      metadata: { ticket: "T-1" },
    });
  });

  test("a message has the state of the moment that it reports", async () => {
    const { data } = await message([]);

    expect(data).toMatchObject({ state: "QUEUED", seq: 1 });
    expect(data).not.toHaveProperty("previous_state");
  });

  test("a message contains neither the prompt nor a secret, and long texts are cut", async () => {
    const origin = { prompt: "the prompt", context: "the context", title: "has a canary in it" };
    const status = { message: "x".repeat(100_000) };

    const text = JSON.stringify(await message([moved("FAILED", { status })], origin));

    expect(text).not.toMatch(/the prompt|the context|canary/);
    expect(text).toContain("has a [redacted] in it");
    expect(text.length).toBeLessThan(4_000);
  });
});

function bySeq(left: NewWebhookDelivery, right: NewWebhookDelivery): number {
  return (left.about?.seq ?? 0) - (right.about?.seq ?? 0);
}
