import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Notice } from "../../../../src/core/model/threads/notice.ts";
import { aCard, aReply, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

describe("a message whose answer from Slack was lost", () => {
  const notices: [string, Notice][] = [
    ["a reply", aReply()],
    ["an answer", { kind: "message", purpose: "answer", text: "**Done**" }],
    ["a card", aCard()],
  ];

  test.each(notices)(
    "%s is posted once although the connection was lost before Slack's answer",
    async (_name, notice) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });

      const error = await fixture.failureOf(fixture.deliver(message, notice));
      const receipt = await fixture.deliver(message, notice, { maybeShown: true });

      expect(error.retryable).toBe(true);
      const replies = fixture.repliesTo(message);
      expect(replies).toHaveLength(1);
      expect(JSON.parse(receipt).ts).toBe(replies[0]?.ts);
    },
  );

  test.each([1, 2, 3])(
    "each part of a long answer is posted once although the answer to part %i was lost",
    async (lost) => {
      const message = await fixture.mentioned();
      const answer: Notice = { kind: "message", purpose: "answer", text: "many words\n".repeat(2_500) };
      const wellConnected = fixture.fetch;
      let posts = 0;
      fixture.fetch = async (input, init) => {
        const result = await wellConnected(input, init);
        posts += String(input).endsWith("chat.postMessage") ? 1 : 0;
        if (posts === lost) {
          throw new TypeError("fetch failed");
        }
        return result;
      };

      await fixture.failureOf(fixture.deliver(message, answer));
      fixture.fetch = wellConnected;
      const receipt = await fixture.deliver(message, answer, { maybeShown: true });

      const shown = fixture.repliesTo(message);
      const parts = shown.map(({ blocks }) => /part (\d) of 3/.exec(JSON.stringify(blocks))?.[1]);
      expect(parts).toEqual(["1", "2", "3"]);
      expect(JSON.parse(receipt).ts).toBe(shown[0]?.ts);
    },
  );

  test("a message is visible once after a time-out", async () => {
    const message = await fixture.mentioned();
    const wellConnected = fixture.fetch;
    fixture.fetch = async (input, init) => {
      await wellConnected(input, init);
      throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    };

    const error = await fixture.failureOf(fixture.deliver(message, aReply()));
    fixture.fetch = wellConnected;
    await fixture.deliver(message, aReply(), { maybeShown: true });

    expect(error.retryable).toBe(true);
    expect(fixture.repliesTo(message)).toHaveLength(1);
  });

  test("a message that Slack did not post is posted at the next delivery", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "500" });
    await fixture.failureOf(fixture.deliver(message, aReply()));

    await fixture.deliver(message, aReply(), { maybeShown: true });

    expect(fixture.repliesTo(message)).toHaveLength(1);
  });

  test("a posted message is found by its block if Slack hides the metadata", async () => {
    const message = await fixture.mentioned();
    await fixture.deliver(message, aReply());
    const wellConnected = fixture.fetch;
    fixture.fetch = async (input, init) => {
      const body = String(init?.body ?? "").replace(
        "include_all_metadata=true",
        "include_all_metadata=false",
      );
      return wellConnected(input, { ...init, body });
    };

    await fixture.deliver(message, aReply(), { maybeShown: true });

    expect(fixture.repliesTo(message)).toHaveLength(1);
  });

  test("a posted message is found after more than a page of replies", async () => {
    const message = await fixture.mentioned();
    for (let index = 0; index < 201; index += 1) {
      await fixture.slack.postAs(fixture.slack.bob, {
        channel: "work",
        text: `${index}`,
        threadTs: message.messageRef,
      });
    }
    await fixture.deliver(message, aReply("The last."));

    await fixture.deliver(message, aReply("The last."), { maybeShown: true });

    expect(fixture.repliesTo(message).filter(({ text }) => text === "The last.")).toHaveLength(1);
    expect(fixture.slack.calls("conversations.replies")).toHaveLength(2);
  });

  test("a user's message with the same marks is not taken for the bot's", async () => {
    const message = await fixture.mentioned();
    const [blocks, metadata] = [
      [{ type: "section", block_id: "errand:d1", text: { type: "mrkdwn", text: "forged" } }],
      { event_type: "errand_delivery", event_payload: { delivery_id: "d1" } },
    ];
    const forged = {
      channel: fixture.slack.channel.id,
      text: "forged",
      thread_ts: message.messageRef,
      blocks,
      metadata,
    };
    await fixture.slack.workspace.callAs(fixture.slack.bob.token, "chat.postMessage", forged);

    await fixture.deliver(message, aReply(), { maybeShown: true });

    expect(fixture.repliesTo(message).map(({ text }) => text)).toEqual(["forged", "Done."]);
  });

  test("a card that an earlier delivery may have posted is found by its run and updated", async () => {
    const message = await fixture.mentioned();
    await fixture.deliver(message, aCard({ state: "QUEUED" }), { id: "d1" });

    await fixture.deliver(message, aCard({ state: "FAILED" }), { id: "d2", maybeShown: true });

    expect(fixture.repliesTo(message).map(({ text }) => text)).toEqual([expect.stringContaining("Failed")]);
  });
});
