import { describe, expect, test } from "vitest";
import { translatePosting } from "../../../../src/adapters/slack/posting.ts";
import type { InboundMessage, Translation } from "../../../../src/core/threads/thread-adapter.ts";

const bot = { teamId: "T1", userId: "U0BOT", botId: "B0BOT", workspaceUrl: "https://acme.slack.com/" };
const hearing = { bot, eventId: "Ev1" };
const TS = "1700000000.000100";

function aMessage(changes: object = {}): object {
  return {
    type: "message",
    channel: "C1",
    channel_type: "channel",
    ts: TS,
    user: "U1",
    text: "hello",
    ...changes,
  };
}

function aMention(changes: object = {}): object {
  const { channel_type: _none, ...event } = { channel_type: "", ...aMessage({ type: "app_mention" }) };
  return { ...event, text: "<@U0BOT> fix it", ...changes };
}

function anEdit(before: string, after: string, changes: object = {}): object {
  const said = { type: "message", user: "U1", ts: TS, ...changes };
  return {
    type: "message",
    subtype: "message_changed",
    channel: "C1",
    channel_type: "channel",
    event_ts: "1700000009.000000",
    message: { ...said, text: after, edited: { user: "U1", ts: "1700000008.000000" } },
    previous_message: { ...said, text: before },
  };
}

function messageOf(translation: Translation): InboundMessage {
  if (translation.kind !== "message") throw new Error(`Ignored: ${translation.reason}`);
  return translation.message;
}

function reasonOf(translation: Translation): string {
  return translation.kind === "ignored" ? translation.reason : "";
}

describe("a posting that mentions the bot", () => {
  test("is the same by either of its two events", () => {
    const byMention = messageOf(translatePosting(aMention(), hearing));
    const byMessage = messageOf(translatePosting(aMessage({ text: "<@U0BOT> fix it" }), hearing));

    expect(byMention).toEqual(byMessage);
    expect(byMention).toMatchObject({
      installation: "T1",
      key: `T1/C1/${TS}`,
      place: "C1",
      addressed: "mention",
      author: { subject: "slack:T1:U1" },
      text: "fix it",
      messageRef: TS,
      permalink: "https://acme.slack.com/archives/C1/p1700000000000100",
    });
  });

  test("in a thread belongs to the thread, and to itself in its meaning", () => {
    const message = messageOf(translatePosting(aMention({ thread_ts: "1600000000.000001" }), hearing));

    expect(message.key).toBe("T1/C1/1600000000.000001");
    expect(message.meaning).toContain(TS);
    expect(message.permalink).toContain("thread_ts=1600000000.000001&cid=C1");
  });

  test("tells what proves where it came from, with the API's members", () => {
    const event = aMention({ thread_ts: "1600000000.000001" });

    expect(messageOf(translatePosting(event, hearing)).provenance).toEqual({
      integration: "slack",
      installation: "T1",
      channel: "C1",
      actor: { id: "U1" },
      message_ids: [`C1/${TS}`],
      content_hash: "02a397197edb2abed9bd866dcdaeeb691e474174f3c04d87e9f1f745f3ebe638",
      action: "posted",
      version: TS,
      thread_ts: "1600000000.000001",
      event_id: "Ev1",
    });
  });

  test("with a file, or shown in the channel too, is one all the same", () => {
    for (const subtype of ["file_share", "thread_broadcast", "me_message"]) {
      const event = aMessage({ subtype, text: "<@U0BOT> look" });

      expect(messageOf(translatePosting(event, hearing)).addressed).toBe("mention");
    }
  });
});

describe("a posting without a mention", () => {
  test("in a thread is a reply", () => {
    const message = messageOf(translatePosting(aMessage({ thread_ts: "1600000000.000001" }), hearing));

    expect(message).toMatchObject({ addressed: "reply", text: "hello", key: "T1/C1/1600000000.000001" });
  });

  test("in a thread to somebody else is not for us", () => {
    const event = aMessage({ thread_ts: "1600000000.000001", text: "<@U2> what do you think?" });

    expect(reasonOf(translatePosting(event, hearing))).toContain("somebody else");
  });

  test("to somebody else and to us is for us", () => {
    const event = aMessage({ thread_ts: "1600000000.000001", text: "<@U2> see what <@U0BOT> does" });

    expect(messageOf(translatePosting(event, hearing)).addressed).toBe("mention");
  });

  test("in the channel is ignored", () => {
    expect(reasonOf(translatePosting(aMessage(), hearing))).toContain("does not mention");
  });

  test("in a direct conversation is for us, whatever tells that it is one", () => {
    const byType = aMessage({ channel: "D1", channel_type: "im" });
    const byId = aMessage({ channel: "D1", channel_type: undefined });

    expect(messageOf(translatePosting(byType, hearing)).addressed).toBe("direct");
    expect(messageOf(translatePosting(byId, hearing)).addressed).toBe("direct");
  });
});

describe("an edit", () => {
  test("that adds our mention counts, once, as an edit", () => {
    const message = messageOf(translatePosting(anEdit("fix it", "<@U0BOT> fix it"), hearing));

    expect(message).toMatchObject({ addressed: "mention", text: "fix it", key: `T1/C1/${TS}` });
    expect(message.meaning).toBe(`slack:T1/C1/${TS}:edited:1700000008.000000`);
    expect(message.provenance).toMatchObject({ action: "edited", version: "1700000008.000000" });
  });

  test("of anything else is ignored, as is the app_mention that Slack sends again for it", () => {
    const edit = anEdit("<@U0BOT> fix it", "<@U0BOT> fix that");
    const again = aMention({ edited: { user: "U1", ts: "1700000008.000000" } });

    expect(reasonOf(translatePosting(edit, hearing))).toContain("edit");
    expect(reasonOf(translatePosting(again, hearing))).toContain("edit");
  });

  test("by a bot is ignored", () => {
    const edit = anEdit("", "<@U0BOT> fix it", { user: "U9", bot_id: "B9" });

    expect(reasonOf(translatePosting(edit, hearing))).toContain("another app (B9)");
  });
});

describe("what nobody said to us", () => {
  test.each([
    ["the bot's own message", { user: "U0BOT" }, "the bot itself"],
    ["the bot's own message by its bot id", { user: undefined, bot_id: "B0BOT" }, "the bot itself"],
    ["another app that speaks as a user", { bot_id: "B9" }, "another app (B9)"],
    ["an old-style bot message", { subtype: "bot_message", bot_id: "B9", user: undefined }, "bot_message"],
    ["Slackbot", { user: "USLACKBOT" }, "Slackbot"],
    ["a join", { subtype: "channel_join" }, "channel_join"],
    ["a topic", { subtype: "channel_topic" }, "channel_topic"],
    ["a deletion", { subtype: "message_deleted", deleted_ts: TS }, "message_deleted"],
    ["a message without an author", { user: undefined }, "nobody"],
  ])("%s is ignored although it names the bot", (_name, changes, reason) => {
    const event = aMessage({ text: "<@U0BOT> run this", ...changes });

    expect(reasonOf(translatePosting(event, hearing))).toContain(reason);
  });

  test("an event of an unknown shape is ignored", () => {
    expect(reasonOf(translatePosting({ type: "message" }, hearing))).not.toBe("");
  });
});
