import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aCard, aReply, messageOf, runId, SlackHarness } from "./slack-harness.ts";

let harness: SlackHarness;

beforeEach(async () => {
  harness = await SlackHarness.open();
});

afterEach(async () => {
  await harness.close();
});

describe("translate", () => {
  test("both events of one mention mean the same", async () => {
    const mention = await harness.slack.mention(harness.slack.alice, { channel: "work", text: "fix it" });
    await harness.slack.sendEvent(harness.url, mention.message);
    const byMessage = messageOf(await harness.translateLast());
    await harness.slack.sendEvent(harness.url, mention.appMention);
    const byMention = messageOf(await harness.translateLast());

    expect(byMention.meaning).toBe(byMessage.meaning);
    expect(harness.inbox[0]?.lane).toBe(harness.inbox[1]?.lane);
    expect(byMention).toMatchObject({
      adapter: "slack",
      installation: harness.slack.teamId,
      key: `${harness.slack.teamId}/${harness.slack.channel.id}/${mention.posted.ts}`,
      addressed: "mention",
      text: "fix it",
      author: { subject: `slack:${harness.slack.teamId}:${harness.slack.alice.id}` },
    });
  });

  test("a reply, a direct message and an edit that adds the mention", async () => {
    const root = await harness.slack.postAs(harness.slack.alice, { channel: "work", text: "hello" });
    const reply = await harness.slack.postAs(harness.slack.bob, {
      channel: "work",
      text: "and this",
      threadTs: root.ts,
    });
    await harness.slack.sendEvent(harness.url, harness.slack.messageEvent(reply));
    expect(messageOf(await harness.translateLast())).toMatchObject({ addressed: "reply", text: "and this" });

    const direct = await harness.slack.openDirectMessage(harness.slack.bob);
    const said = await harness.slack.postAs(harness.slack.bob, { channel: direct.id, text: "hi" });
    await harness.slack.sendEvent(harness.url, harness.slack.messageEvent(said));
    expect(messageOf(await harness.translateLast())).toMatchObject({ addressed: "direct", text: "hi" });

    const { event } = await harness.slack.editAs(root, `<@${harness.slack.botUserId}> hello`);
    await harness.slack.sendEvent(harness.url, event);
    expect(messageOf(await harness.translateLast())).toMatchObject({ addressed: "mention", text: "hello" });
  });

  test("the bot's own posts are ignored", async () => {
    const message = await harness.mentioned();
    await harness.deliver(message, aReply("@errand do it again"));
    const own = harness.repliesTo(message)[0];
    const event = {
      type: "message",
      channel: harness.slack.channel.id,
      ts: own?.ts,
      user: own?.userId,
      bot_id: own?.botId,
    };

    await harness.slack.sendEvent(harness.url, {
      ...event,
      type: "message",
      text: `<@${harness.slack.botUserId}> again`,
    });

    expect(await harness.translateLast()).toEqual({
      kind: "ignored",
      reason: "A message of the bot itself.",
    });
  });

  test("events nobody listens for are ignored with a reason", async () => {
    await harness.slack.sendEvent(harness.url, { type: "member_joined_channel", user: "U1", channel: "C1" });

    expect(await harness.translateLast()).toMatchObject({
      kind: "ignored",
      reason: expect.stringContaining("member_joined"),
    });
  });

  test("a button of our own card", async () => {
    const message = await harness.mentioned();
    const receipt = await harness.deliver(message, aCard());
    const { channel, ts } = JSON.parse(receipt);

    await harness.slack.sendButton(harness.url, {
      actionId: "errand_cancel",
      value: runId,
      user: harness.slack.bob,
      message: { channel, ts },
    });

    expect(harness.inbox.at(-1)?.lane).toBe(harness.inbox[0]?.lane);
    expect(messageOf(await harness.translateLast())).toMatchObject({
      key: message.key,
      press: { kind: "cancel", runId },
      author: { subject: `slack:${harness.slack.teamId}:${harness.slack.bob.id}` },
    });
  });

  test("an event of another workspace is refused permanently", async () => {
    const mention = await harness.slack.mention(harness.slack.carol, {
      channel: harness.slack.otherWorkspace.channel("work").id,
      text: "hi",
    });
    await harness.slack.sendEvent(harness.url, mention.appMention);

    const error = await harness.failureOf(harness.translateLast());

    expect(error).toMatchObject({
      code: "integration_not_configured",
      retryable: false,
      options: { integrationName: "slack" },
    });
  });

  test("while Slack is away it can be tried again, and then succeeds", async () => {
    harness.slack.faults.next({ method: "auth.test", kind: "500" });
    const mention = await harness.slack.mention(harness.slack.alice, { channel: "work", text: "fix it" });
    await harness.slack.sendEvent(harness.url, mention.appMention);

    const error = await harness.failureOf(harness.translateLast());
    const second = await harness.translateLast();

    expect(error.retryable).toBe(true);
    expect(second.kind).toBe("message");
  });

  test("who the bot is is asked once, and not at start", async () => {
    expect(harness.slack.calls("auth.test")).toHaveLength(0);

    await harness.mentioned("one");
    await harness.mentioned("two");

    expect(harness.slack.calls("auth.test")).toHaveLength(1);
  });
});
