import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Notice } from "../../../../src/core/threads/notice.ts";
import { aCard, aReply, messageOf, SlackHarness } from "./slack-harness.ts";

let harness: SlackHarness;

beforeEach(async () => {
  harness = await SlackHarness.open();
});

afterEach(async () => {
  await harness.close();
});

describe("deliver", () => {
  test("seen is a reaction, also the second time", async () => {
    const message = await harness.mentioned();
    const seen = { kind: "seen", messageRef: message.messageRef } as const;

    const receipts = [
      await harness.deliver(message, seen),
      await harness.deliver(message, seen, { maybeShown: true }),
    ];

    const [root] = harness.slack.threadMessages(harness.slack.channel.id, message.messageRef);
    expect(root?.reactions).toEqual([{ name: "eyes", users: [harness.slack.botUserId] }]);
    expect(receipts[0]).toBe(receipts[1]);
  });

  test("a card is posted in the thread once and edited after that", async () => {
    const message = await harness.mentioned();

    const shownAt = await harness.deliver(message, aCard());
    const again = await harness.deliver(message, aCard({ state: "SUCCEEDED" }), { id: "d2", shownAt });

    const replies = harness.repliesTo(message);
    expect(replies).toHaveLength(1);
    expect(again).toBe(shownAt);
    expect(replies[0]?.text).toContain("Succeeded");
    expect(JSON.stringify(replies[0]?.blocks)).not.toContain("errand_cancel");
    expect(JSON.parse(shownAt)).toEqual({ channel: harness.slack.channel.id, ts: replies[0]?.ts });
  });

  test("a card that somebody deleted is posted anew", async () => {
    const message = await harness.mentioned();
    const shownAt = await harness.deliver(message, aCard());
    await harness.slack.workspace.callAs(harness.slack.botToken, "chat.delete", JSON.parse(shownAt));

    const anew = await harness.deliver(message, aCard({ turn: 2 }), { id: "d2", shownAt });

    expect(anew).not.toBe(shownAt);
    expect(harness.repliesTo(message)).toHaveLength(1);
  });

  test("messages carry both marks and unfurl nothing", async () => {
    const message = await harness.mentioned();

    await harness.deliver(message, aReply("see https://example.com"));

    const [reply] = harness.repliesTo(message);
    expect(reply?.metadata).toMatchObject({
      event_type: "errand_delivery",
      event_payload: { delivery_id: "d1" },
    });
    expect(reply?.blocks[0]?.block_id).toBe("errand:d1");
    expect(harness.slack.calls("chat.postMessage").at(-1)?.args).toMatchObject({
      unfurl_links: "false",
      unfurl_media: "false",
      parse: "none",
    });
  });

  test("in a direct conversation it answers in the thread of the message", async () => {
    const direct = await harness.slack.openDirectMessage(harness.slack.bob);
    const said = await harness.slack.postAs(harness.slack.bob, { channel: direct.id, text: "hi" });
    await harness.slack.sendEvent(harness.url, harness.slack.messageEvent(said));
    const message = messageOf(await harness.translateLast());

    await harness.deliver(message, aReply());

    expect(harness.slack.threadMessages(direct.id, said.ts).map(({ text }) => text)).toEqual(["hi", "Done."]);
  });
});

test("no call to Slack waits for ever", async () => {
  const wellConnected = harness.fetch;
  const signals: unknown[] = [];
  harness.fetch = (input, init) => {
    signals.push(init?.signal);
    return wellConnected(input, init);
  };

  await harness.mentioned();

  expect(signals).toEqual([expect.any(AbortSignal)]);
});

describe("what Slack refuses", () => {
  test("a rate limit is a retryable error with Slack's waiting time", async () => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "chat.postMessage", kind: "429", retryAfterSeconds: 30 });

    const error = await harness.failureOf(harness.deliver(message, aReply()));

    expect(error).toMatchObject({ retryable: true, options: { retryAfterMs: 30_000 } });
    expect(harness.slack.calls("chat.postMessage")).toHaveLength(1);
  });

  test.each([
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "token_revoked",
    "account_inactive",
    "invalid_auth",
    "missing_scope",
  ])("%s is a permanent error that names its reason", async (name) => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

    const error = await harness.failureOf(harness.deliver(message, aReply()));

    expect(error.retryable).toBe(false);
    expect(error.message).toContain(name);
  });

  test.each(["internal_error", "fatal_error", "service_unavailable", "ratelimited"])(
    "%s may pass",
    async (name) => {
      const message = await harness.mentioned();
      harness.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

      expect(await harness.failureOf(harness.deliver(message, aReply()))).toMatchObject({ retryable: true });
    },
  );

  test("no answer and HTTP 500 may pass, and are not tried again behind our back", async () => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "chat.postMessage", kind: "500" });
    const broken = await harness.failureOf(harness.deliver(message, aReply()));
    const calls = harness.slack.calls("chat.postMessage").length;
    harness.fetch = async () => Promise.reject(new TypeError("fetch failed"));
    const silent = await harness.failureOf(harness.deliver(message, aReply()));

    expect([broken.retryable, silent.retryable, calls]).toEqual([true, true, 1]);
  });

  test("nothing is posted to the channel for a thread whose first message was deleted", async () => {
    const mention = await harness.slack.mention(harness.slack.alice, { channel: "work", text: "fix it" });
    await harness.slack.sendEvent(harness.url, mention.appMention);
    const message = messageOf(await harness.translateLast());
    await harness.slack.deleteAs(mention.posted);

    const error = await harness.failureOf(harness.deliver(message, aReply()));
    const again = await harness.failureOf(harness.deliver(message, aReply(), { maybeShown: true }));

    expect([error, again]).toMatchObject([{ retryable: false }, { retryable: false }]);
    expect(harness.slack.channelMessages(harness.slack.channel.id)).toEqual([]);
  });
});

describe("text that an agent prints", () => {
  test("arrives whole or cut, calls nobody, and fits", async () => {
    const message = await harness.mentioned();
    const hostile =
      "<!channel> @channel <@U0BOT> ![x](https://evil.example/k) \u001B[31mred\u001B[0m\n# ✅ Succeeded\n";

    for (const [index, text] of [hostile, hostile.repeat(10_000), "x".repeat(1_000_000)].entries()) {
      const notice: Notice = {
        kind: "message",
        purpose: "answer",
        text,
        sessionLink: "https://errand.example/s/1",
      };
      await harness.deliver(message, notice, { id: `d${index}` });
    }
    const shown = JSON.stringify(harness.repliesTo(message));

    expect(harness.repliesTo(message)).toHaveLength(3);
    expect(shown).toContain("The agent's answer");
    for (const dangerous of ["<!channel", "@channel", "<@U0BOT", "![x]", "\\u001b"])
      expect(shown).not.toContain(dangerous);
  });
});
