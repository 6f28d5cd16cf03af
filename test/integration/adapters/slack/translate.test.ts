import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asRecord } from "../../../support/json.ts";
import { aCard, aReply, messageOf, runId, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

describe("translate", () => {
  test("both events of one mention have the same dedupe key and ordering key", async () => {
    const mention = await fixture.slack.mention(fixture.slack.alice, { channel: "work", text: "fix it" });
    await fixture.slack.sendEvent(fixture.url, mention.message);
    const byMessage = messageOf(await fixture.translateLast());
    await fixture.slack.sendEvent(fixture.url, mention.appMention);
    const byMention = messageOf(await fixture.translateLast());

    expect(byMention.dedupeKey).toBe(byMessage.dedupeKey);
    expect(fixture.inbox[0]?.orderingKey).toBe(fixture.inbox[1]?.orderingKey);
    expect(byMention).toMatchObject({
      adapter: "slack",
      installation: fixture.slack.teamId,
      key: `${fixture.slack.teamId}/${fixture.slack.channel.id}/${mention.posted.ts}`,
      addressed: "mention",
      text: "fix it",
      author: { subject: `slack:${fixture.slack.teamId}:${fixture.slack.alice.id}` },
    });
  });

  test("a reply, a direct message and an edit that adds the mention are translated", async () => {
    const root = await fixture.slack.postAs(fixture.slack.alice, { channel: "work", text: "hello" });
    const reply = await fixture.slack.postAs(fixture.slack.bob, {
      channel: "work",
      text: "and this",
      threadTs: root.ts,
    });
    await fixture.slack.sendEvent(fixture.url, fixture.slack.messageEvent(reply));
    expect(messageOf(await fixture.translateLast())).toMatchObject({ addressed: "reply", text: "and this" });

    const direct = await fixture.slack.openDirectMessage(fixture.slack.bob);
    const posted = await fixture.slack.postAs(fixture.slack.bob, { channel: direct.id, text: "hi" });
    await fixture.slack.sendEvent(fixture.url, fixture.slack.messageEvent(posted));
    expect(messageOf(await fixture.translateLast())).toMatchObject({ addressed: "direct", text: "hi" });

    const { event } = await fixture.slack.editAs(root, `<@${fixture.slack.botUserId}> hello`);
    await fixture.slack.sendEvent(fixture.url, event);
    expect(messageOf(await fixture.translateLast())).toMatchObject({ addressed: "mention", text: "hello" });
  });

  test("help texts call the bot by the name of its app", async () => {
    const wellConnected = fixture.fetch;
    fixture.fetch = async (input, init) => {
      const answer = await wellConnected(input, init);
      return String(input).endsWith("/auth.test")
        ? Response.json({ ...asRecord(await answer.json()), user: "ada" })
        : answer;
    };
    expect(fixture.adapter.traits.trigger(fixture.slack.teamId)).toBe("@errand");

    await fixture.mentioned();

    expect(fixture.adapter.traits.trigger(fixture.slack.teamId)).toBe("@ada");
  });

  test("a message of the bot itself is ignored", async () => {
    const message = await fixture.mentioned();
    await fixture.deliver(message, aReply("@errand do it again"));
    const own = fixture.repliesTo(message)[0];
    const event = {
      type: "message",
      channel: fixture.slack.channel.id,
      ts: own?.ts,
      user: own?.userId,
      bot_id: own?.botId,
    };

    await fixture.slack.sendEvent(fixture.url, {
      ...event,
      type: "message",
      text: `<@${fixture.slack.botUserId}> again`,
    });

    expect(await fixture.translateLast()).toEqual({
      kind: "ignored",
      reason: "A message of the bot itself.",
    });
  });

  test("an event of another kind is ignored with a reason", async () => {
    await fixture.slack.sendEvent(fixture.url, { type: "member_joined_channel", user: "U1", channel: "C1" });

    expect(await fixture.translateLast()).toMatchObject({
      kind: "ignored",
      reason: expect.stringContaining("member_joined"),
    });
  });

  test("a button of the card is a button action", async () => {
    const message = await fixture.mentioned();
    const receipt = await fixture.deliver(message, aCard());
    const { channel, ts } = JSON.parse(receipt);

    await fixture.slack.sendButton(fixture.url, {
      actionId: "errand_cancel",
      value: runId,
      user: fixture.slack.bob,
      message: { channel, ts },
    });

    expect(fixture.inbox.at(-1)?.orderingKey).toBe(fixture.inbox[0]?.orderingKey);
    expect(messageOf(await fixture.translateLast())).toMatchObject({
      key: message.key,
      buttonAction: { kind: "cancel", runId },
      author: { subject: `slack:${fixture.slack.teamId}:${fixture.slack.bob.id}` },
    });
  });

  test("a mention in a workspace without an installation waits for one", async () => {
    const mention = await fixture.slack.mention(fixture.slack.carol, {
      channel: fixture.slack.otherWorkspace.channel("work").id,
      text: "hi",
    });
    await fixture.slack.sendEvent(fixture.url, mention.appMention);

    expect(await fixture.translateLast()).toMatchObject({
      kind: "unconnected",
      installation: fixture.slack.otherWorkspace.teamId,
    });
  });

  test("a translation that fails while Slack is away is retryable and then succeeds", async () => {
    fixture.slack.faults.next({ method: "auth.test", kind: "500" });
    const mention = await fixture.slack.mention(fixture.slack.alice, { channel: "work", text: "fix it" });
    await fixture.slack.sendEvent(fixture.url, mention.appMention);

    const error = await fixture.failureOf(fixture.translateLast());
    const second = await fixture.translateLast();

    expect(error.retryable).toBe(true);
    expect(second.kind).toBe("message");
  });

  test("the adapter asks who the bot is once, and not at start", async () => {
    expect(fixture.slack.calls("auth.test")).toHaveLength(0);

    await fixture.mentioned("one");
    await fixture.mentioned("two");

    expect(fixture.slack.calls("auth.test")).toHaveLength(1);
  });
});
