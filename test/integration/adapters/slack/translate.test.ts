import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aCard, aReply, messageOf, runId, SlackDesk } from "./slack-desk.ts";

let desk: SlackDesk;

beforeEach(async () => {
  desk = await SlackDesk.open();
});

afterEach(async () => {
  await desk.close();
});

describe("translate", () => {
  test("both events of one mention mean the same", async () => {
    const mention = await desk.slack.mention(desk.slack.alice, { channel: "work", text: "fix it" });
    await desk.slack.sendEvent(desk.url, mention.message);
    const byMessage = messageOf(await desk.translateLast());
    await desk.slack.sendEvent(desk.url, mention.appMention);
    const byMention = messageOf(await desk.translateLast());

    expect(byMention.meaning).toBe(byMessage.meaning);
    expect(desk.inbox[0]?.lane).toBe(desk.inbox[1]?.lane);
    expect(byMention).toMatchObject({
      adapter: "slack",
      installation: desk.slack.teamId,
      key: `${desk.slack.teamId}/${desk.slack.channel.id}/${mention.posted.ts}`,
      addressed: "mention",
      text: "fix it",
      author: { subject: `slack:${desk.slack.teamId}:${desk.slack.alice.id}` },
    });
  });

  test("a reply, a direct message and an edit that adds the mention", async () => {
    const root = await desk.slack.postAs(desk.slack.alice, { channel: "work", text: "hello" });
    const reply = await desk.slack.postAs(desk.slack.bob, {
      channel: "work",
      text: "and this",
      threadTs: root.ts,
    });
    await desk.slack.sendEvent(desk.url, desk.slack.messageEvent(reply));
    expect(messageOf(await desk.translateLast())).toMatchObject({ addressed: "reply", text: "and this" });

    const direct = await desk.slack.openDirectMessage(desk.slack.bob);
    const said = await desk.slack.postAs(desk.slack.bob, { channel: direct.id, text: "hi" });
    await desk.slack.sendEvent(desk.url, desk.slack.messageEvent(said));
    expect(messageOf(await desk.translateLast())).toMatchObject({ addressed: "direct", text: "hi" });

    const { event } = await desk.slack.editAs(root, `<@${desk.slack.botUserId}> hello`);
    await desk.slack.sendEvent(desk.url, event);
    expect(messageOf(await desk.translateLast())).toMatchObject({ addressed: "mention", text: "hello" });
  });

  test("what the bot itself posts is ignored (43)", async () => {
    const message = await desk.mentioned();
    await desk.deliver(message, aReply("@errand do it again"));
    const own = desk.repliesTo(message)[0];
    const event = {
      type: "message",
      channel: desk.slack.channel.id,
      ts: own?.ts,
      user: own?.userId,
      bot_id: own?.botId,
    };

    await desk.slack.sendEvent(desk.url, {
      ...event,
      type: "message",
      text: `<@${desk.slack.botUserId}> again`,
    });

    expect(await desk.translateLast()).toEqual({ kind: "ignored", reason: "A message of the bot itself." });
  });

  test("events nobody listens for are ignored with a reason", async () => {
    await desk.slack.sendEvent(desk.url, { type: "member_joined_channel", user: "U1", channel: "C1" });

    expect(await desk.translateLast()).toMatchObject({
      kind: "ignored",
      reason: expect.stringContaining("member_joined"),
    });
  });

  test("a button of our own card", async () => {
    const message = await desk.mentioned();
    const receipt = await desk.deliver(message, aCard());
    const { channel, ts } = JSON.parse(receipt);

    await desk.slack.sendButton(desk.url, {
      actionId: "errand_cancel",
      value: runId,
      user: desk.slack.bob,
      message: { channel, ts },
    });

    expect(desk.inbox.at(-1)?.lane).toBe(desk.inbox[0]?.lane);
    expect(messageOf(await desk.translateLast())).toMatchObject({
      key: message.key,
      press: { kind: "cancel", runId },
      author: { subject: `slack:${desk.slack.teamId}:${desk.slack.bob.id}` },
    });
  });

  test("an event of another workspace is refused for good (45)", async () => {
    const mention = await desk.slack.mention(desk.slack.carol, {
      channel: desk.slack.otherWorkspace.channel("work").id,
      text: "hi",
    });
    await desk.slack.sendEvent(desk.url, mention.appMention);

    const error = await desk.failureOf(desk.translateLast());

    expect(error).toMatchObject({
      code: "integration_not_configured",
      retryable: false,
      options: { integrationName: "slack" },
    });
  });

  test("while Slack is away it can be tried again, and then succeeds", async () => {
    desk.slack.faults.next({ method: "auth.test", kind: "500" });
    const mention = await desk.slack.mention(desk.slack.alice, { channel: "work", text: "fix it" });
    await desk.slack.sendEvent(desk.url, mention.appMention);

    const error = await desk.failureOf(desk.translateLast());
    const second = await desk.translateLast();

    expect(error.retryable).toBe(true);
    expect(second.kind).toBe("message");
  });

  test("who the bot is is asked once, and not at start", async () => {
    expect(desk.slack.calls("auth.test")).toHaveLength(0);

    await desk.mentioned("one");
    await desk.mentioned("two");

    expect(desk.slack.calls("auth.test")).toHaveLength(1);
  });
});
