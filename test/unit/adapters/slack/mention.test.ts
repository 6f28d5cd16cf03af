import { describe, expect, test } from "vitest";
import {
  hasMention,
  startsWithOtherMention,
  withoutMention,
} from "../../../../src/adapters/slack/mention.ts";
import { parseCommand } from "../../../../src/core/threads/inbox/parse-command.ts";
import { processorTime } from "../../../support/processor-time.ts";

const bot = { userId: "U0BOT", name: "errand" };

describe("withoutMention", () => {
  test.each([
    ["the mention of the bot goes", "<@U0BOT> fix the build", "fix the build"],
    ["with the colon behind it", "<@U0BOT|errand>: fix the build", "fix the build"],
    ["in the middle it is a word", "I think <@U0BOT>'s change is fine", "I think @errand's change is fine"],
    ["at the end it is a word", "who is <@U0BOT>", "who is @errand"],
    ["behind a control word it goes", "stop <@U0BOT>", "stop"],
    ["before and behind a control word", "<@U0BOT> stop <@U0BOT>", "stop"],
    ["twice before the words", "<@U0BOT> <@U0BOT>: fix it", "fix it"],
    ["after a quote", "&gt; it fails\n<@U0BOT> fix it", "> it fails\nfix it"],
    ["also alone", "<@U0BOT>", ""],
    ["other people stay readable", "ask <@U1> or <@U2|bob>", "ask @U1 or @bob"],
    ["channels stay readable", "in <#C1|general> and <#C2>", "in #general and #C2"],
    ["groups and shouts stay readable", "<!here> <!subteam^S1|@devs> <!channel>", "@here @devs @channel"],
    ["dates show their fallback", "<!date^1392734382^{date}|18 Feb>", "18 Feb"],
    ["labelled links keep both", "see <https://a.example/x|the page>", "see the page (https://a.example/x)"],
    ["plain links", "see <https://a.example/x>", "see https://a.example/x"],
    ["what Slack took for a link", "run <http://foo.py|foo.py>", "run foo.py"],
    ["mail addresses", "<mailto:a@b.example|a@b.example>", "a@b.example"],
    ["escapes are undone once", "a &lt; b &amp;&amp; c &amp;lt; d", "a < b && c &lt; d"],
    ["an escaped tag stays text", "print &lt;@U1&gt;", "print <@U1>"],
    ["lines stay", "<@U0BOT> one\n• two", "one\n• two"],
  ])("the text without the mention: %s", (_name, text, words) => {
    expect(withoutMention(text, bot)).toBe(words);
  });

  test("a text of many beginnings of mentions and links is read in linear time", () => {
    const usedMs = processorTime();

    for (const beginning of ["<!", "<a:", "<a:b|", "<@U1|", "<@U0BOT|", "<#C1|"]) {
      const text = beginning.repeat(90_000 / beginning.length);
      expect(withoutMention(text, bot)).toBe(text);
    }
    expect(usedMs()).toBeLessThan(5_000);
  });
});

describe("the addressed user", () => {
  test("the addressed user is the bot if its id is mentioned anywhere in the text", () => {
    expect(hasMention("hey <@U0BOT|errand>", bot)).toBe(true);
    expect(hasMention("hey <@U0BOTH>", bot)).toBe(false);
    expect(hasMention("hey &lt;@U0BOT&gt;", bot)).toBe(false);
  });

  test.each([
    ["a quote", "&gt; <@U0BOT> fix it"],
    ["the second line of a quote", "&gt; she wrote\n&gt; <@U0BOT> fix it\nI agree"],
    ["all that follows three signs", "look\n&gt;&gt;&gt; she wrote\n<@U0BOT> fix it"],
  ])("a mention within a quote is none: %s", (_name, text) => {
    expect(hasMention(text, bot)).toBe(false);
  });

  test("the addressed user is another one if the text begins with their mention", () => {
    expect(startsWithOtherMention(" <@U1> look", bot)).toBe(true);
    expect(startsWithOtherMention("<@U0BOT> look, <@U1>", bot)).toBe(false);
    expect(startsWithOtherMention("look, <@U1>", bot)).toBe(false);
  });
});

test("a quote of Slack does not hide a control word", () => {
  const text = withoutMention("&gt; The agent asks: May I?\n<@U0BOT> stop", bot);

  expect(parseCommand({ text })).toEqual({ kind: "stop" });
});

test("a mention of the bot of another workspace that shares the channel is one of the bot", () => {
  const shared = { ...bot, otherIds: ["U0OTHER", "B0OTHER"] };

  expect(hasMention("<@U0OTHER> fix it", shared)).toBe(true);
  expect(startsWithOtherMention("<@U0OTHER> fix it", shared)).toBe(false);
  expect(withoutMention("<@U0OTHER>: fix what <@U0OTHER|helper> did", shared)).toBe("fix what @errand did");
});
