import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Notice } from "../../../../src/core/threads/notice.ts";
import { aCard, aReply, SlackHarness } from "./slack-harness.ts";

let harness: SlackHarness;

beforeEach(async () => {
  harness = await SlackHarness.open();
});

afterEach(async () => {
  await harness.close();
});

describe("a message whose post was not confirmed", () => {
  const notices: [string, Notice][] = [
    ["a reply", aReply()],
    ["an answer", { kind: "message", purpose: "answer", text: "**Done**" }],
    ["a card", aCard()],
  ];

  test.each(notices)("%s is visible once after the connection was lost", async (_name, notice) => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });

    const error = await harness.failureOf(harness.deliver(message, notice));
    const receipt = await harness.deliver(message, notice, { maybeShown: true });

    expect(error.retryable).toBe(true);
    const replies = harness.repliesTo(message);
    expect(replies).toHaveLength(1);
    expect(JSON.parse(receipt).ts).toBe(replies[0]?.ts);
  });

  test("is visible once after a time-out", async () => {
    const message = await harness.mentioned();
    const wellConnected = harness.fetch;
    harness.fetch = async (input, init) => {
      await wellConnected(input, init);
      throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    };

    const error = await harness.failureOf(harness.deliver(message, aReply()));
    harness.fetch = wellConnected;
    await harness.deliver(message, aReply(), { maybeShown: true });

    expect(error.retryable).toBe(true);
    expect(harness.repliesTo(message)).toHaveLength(1);
  });

  test("is posted when it really was not", async () => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "chat.postMessage", kind: "500" });
    await harness.failureOf(harness.deliver(message, aReply()));

    await harness.deliver(message, aReply(), { maybeShown: true });

    expect(harness.repliesTo(message)).toHaveLength(1);
  });

  test("is found by its block where Slack hides the metadata", async () => {
    const message = await harness.mentioned();
    await harness.deliver(message, aReply());
    const wellConnected = harness.fetch;
    harness.fetch = async (input, init) => {
      const body = String(init?.body ?? "").replace(
        "include_all_metadata=true",
        "include_all_metadata=false",
      );
      return wellConnected(input, { ...init, body });
    };

    await harness.deliver(message, aReply(), { maybeShown: true });

    expect(harness.repliesTo(message)).toHaveLength(1);
  });

  test("is found behind more than a page of replies", async () => {
    const message = await harness.mentioned();
    for (let index = 0; index < 201; index += 1) {
      await harness.slack.postAs(harness.slack.bob, {
        channel: "work",
        text: `${index}`,
        threadTs: message.messageRef,
      });
    }
    await harness.deliver(message, aReply("The last."));

    await harness.deliver(message, aReply("The last."), { maybeShown: true });

    expect(harness.repliesTo(message).filter(({ text }) => text === "The last.")).toHaveLength(1);
    expect(harness.slack.calls("conversations.replies")).toHaveLength(2);
  });

  test("is not taken for another's that carries the same marks", async () => {
    const message = await harness.mentioned();
    const [blocks, metadata] = [
      [{ type: "section", block_id: "errand:d1", text: { type: "mrkdwn", text: "forged" } }],
      { event_type: "errand_delivery", event_payload: { delivery_id: "d1" } },
    ];
    const forged = {
      channel: harness.slack.channel.id,
      text: "forged",
      thread_ts: message.messageRef,
      blocks,
      metadata,
    };
    await harness.slack.workspace.callAs(harness.slack.bob.token, "chat.postMessage", forged);

    await harness.deliver(message, aReply(), { maybeShown: true });

    expect(harness.repliesTo(message).map(({ text }) => text)).toEqual(["forged", "Done."]);
  });

  test("a card of which an older delivery may be shown is found by its run, and shows the newer news", async () => {
    const message = await harness.mentioned();
    await harness.deliver(message, aCard({ state: "QUEUED" }), { id: "d1" });

    await harness.deliver(message, aCard({ state: "FAILED" }), { id: "d2", maybeShown: true });

    expect(harness.repliesTo(message).map(({ text }) => text)).toEqual([expect.stringContaining("Failed")]);
  });
});
