import { describe, expect, test } from "vitest";
import { readableText } from "../../../../src/adapters/slack/mention.ts";
import { contentOf, forwardedFiles, plainName } from "../../../../src/adapters/slack/message-content.ts";

const bot = { userId: "U0BOT", name: "errand" };
const plain = (text: string) => ({ type: "plain_text", text });
const mrkdwn = (text: string) => ({ type: "mrkdwn", text });
const section = (...elements: object[]) => ({ type: "rich_text_section", elements });
const words = (text: string, style = {}) => ({ type: "text", text, style });
const rich = (...elements: object[]) => ({ type: "rich_text", elements });

/** What the agent reads of the message. */
function readable(message: object): string {
  const { words: own, attached } = contentOf(message);
  return [own, ...attached].map((part) => readableText(part, bot)).join("\n");
}

describe("the blocks of a message without a text", () => {
  test.each<[string, object, string]>([
    ["section", { type: "section", text: mrkdwn("*Error* &lt;500&gt;") }, "*Error* <500>"],
    ["section with fields", { type: "section", fields: [mrkdwn("*Env*"), plain("prod")] }, "*Env*\nprod"],
    [
      "section with an image beside it",
      { type: "section", text: plain("a"), accessory: { type: "image", alt_text: "graph" } },
      "a\n[image: graph]",
    ],
    ["header", { type: "header", text: plain("Alert <1>") }, "Alert <1>"],
    ["context", { type: "context", elements: [mrkdwn("by CI"), plain("now")] }, "by CI\nnow"],
    ["markdown", { type: "markdown", text: "# A <b>" }, "# A <b>"],
    ["image", { type: "image", title: plain("CPU"), alt_text: "a graph" }, "[image: CPU]"],
    [
      "video",
      { type: "video", title: plain("Demo"), title_url: "https://v.example/1", description: plain("d") },
      "Demo\nhttps://v.example/1\nd",
    ],
    [
      "buttons with an address",
      {
        type: "actions",
        elements: [
          { type: "button", text: plain("Open"), url: "https://a.example", value: "secret", action_id: "x" },
          { type: "button", text: plain("Mute") },
        ],
      },
      "Open (https://a.example)",
    ],
    [
      "menu",
      {
        type: "actions",
        elements: [
          {
            type: "static_select",
            placeholder: plain("Choose"),
            options: [{ text: plain("a"), value: "1" }],
          },
        ],
      },
      "",
    ],
    [
      "table",
      {
        type: "table",
        rows: [
          [
            { type: "raw_text", text: "job" },
            { type: "raw_text", text: "state" },
          ],
          [rich(section(words("test"))), { type: "raw_text", text: "red" }],
        ],
      },
      "job | state\ntest | red",
    ],
    [
      "rich text",
      rich(
        section(words("see "), { type: "link", url: "https://a.example/x", text: "this" }, words(" & "), {
          type: "emoji",
          name: "fire",
        }),
      ),
      "see this (https://a.example/x) & :fire:",
    ],
    [
      "rich list",
      rich(
        { type: "rich_text_list", style: "bullet", elements: [section(words("one")), section(words("two"))] },
        {
          type: "rich_text_list",
          style: "ordered",
          indent: 1,
          offset: 2,
          elements: [section(words("three"))],
        },
      ),
      "• one\n• two\n    3. three",
    ],
    ["rich quote", rich({ type: "rich_text_quote", elements: [words("a\nb")] }), "> a\n> b"],
    [
      "rich code",
      rich(
        { type: "rich_text_preformatted", elements: [words("if a < b")] },
        section(words("x", { code: true })),
      ),
      "```\nif a < b\n```\n`x`",
    ],
    [
      "rich mentions",
      rich(
        section(
          { type: "user", user_id: "U1" },
          { type: "channel", channel_id: "C1" },
          { type: "usergroup", usergroup_id: "S1" },
          { type: "broadcast", range: "here" },
        ),
      ),
      "@U1#C1@subteam^S1@here",
    ],
    [
      "rich date and colour",
      rich(
        section({ type: "date", timestamp: 1, format: "{date}", fallback: "1 May" }, words(" "), {
          type: "color",
          value: "#fff",
        }),
      ),
      "1 May #fff",
    ],
    [
      "rich mentions of other things",
      rich(
        section(
          words("in "),
          { type: "list_record", file_id: "F1", url: "https://s.example/lists/F1" },
          words(" and "),
          { type: "workflow_mention", workflow_id: "Wf1" },
        ),
      ),
      "in list record (https://s.example/lists/F1) and [workflow mention]",
    ],
    ["alert", { type: "alert", text: mrkdwn("Disk is full"), level: "error" }, "Disk is full"],
    [
      "card",
      {
        type: "card",
        title: plain("PR 7"),
        body: mrkdwn("2 files"),
        hero_image: { type: "image", alt_text: "shot" },
      },
      "PR 7\n2 files\n[image: shot]",
    ],
    [
      "carousel",
      {
        type: "carousel",
        elements: [
          { type: "card", title: plain("A") },
          { type: "card", title: plain("B") },
        ],
      },
      "A\nB",
    ],
    [
      "card with a picture, small texts and a button",
      {
        type: "card",
        icon: { type: "image", image_url: "https://a.example/i.png", alt_text: "logo" },
        ...{ title: mrkdwn("*Latency*"), subtitle: mrkdwn("prod"), body: mrkdwn("p99 &gt; 2s") },
        actions: [{ type: "button", text: plain("Open"), url: "https://a.example/1", action_id: "x" }],
      },
      "[image: logo]\n*Latency*\nprod\np99 > 2s\nOpen (https://a.example/1)",
    ],
    [
      "container",
      {
        type: "container",
        ...{ title: plain("Build 7"), subtitle: mrkdwn("main"), width: "wide" },
        child_blocks: [{ type: "section", text: mrkdwn("3 failed") }, { type: "divider" }],
      },
      "Build 7\nmain\n3 failed",
    ],
    [
      "data table",
      {
        type: "data_table",
        caption: "Jobs <today>",
        rows: [
          [
            { type: "raw_text", text: "job" },
            { type: "raw_text", text: "seconds" },
          ],
          [rich(section(words("test"))), { type: "raw_number", value: 61.5, text: "61.5" }],
        ],
      },
      "Jobs <today>\njob | seconds\ntest | 61.5",
    ],
    [
      "plan of tasks with sources",
      {
        type: "plan",
        title: "2 steps",
        tasks: [
          {
            type: "task_card",
            ...{ task_id: "t1", title: "Search", status: "complete" },
            output: rich(section(words("found it"))),
            sources: [{ type: "url", url: "https://a.example/1", text: "Runbook" }],
          },
        ],
      },
      "2 steps\nSearch\nfound it\nRunbook (https://a.example/1)",
    ],
    [
      "buttons that rate or change an answer",
      {
        type: "context_actions",
        elements: [
          {
            type: "feedback_buttons",
            action_id: "f",
            positive_button: { text: plain("Good"), value: "1" },
            negative_button: { text: plain("Bad"), value: "0" },
          },
          { type: "icon_button", icon: "trash", text: plain("Delete"), action_id: "d" },
        ],
      },
      "",
    ],
    [
      "a type that is not known",
      { type: "hologram", parts: [{ type: "beam", label: plain("Hello") }] },
      "Hello",
    ],
  ])("%s", (_name, block, text) => {
    expect(readable({ text: "", bot_id: "B1", blocks: [block] })).toBe(text);
  });

  test("blocks with a text of their own beside it are read once", () => {
    const blocks = [rich(section(words("fix it", { bold: true })))];

    expect(readable({ text: "*fix it*", blocks })).toBe("*fix it*");
    expect(
      readable({
        text: "Build 7",
        bot_id: "B1",
        blocks: [{ type: "header", text: plain("Build 7 failed") }],
      }),
    ).toBe("Build 7 failed");
    expect(
      readable({ text: "Alert", bot_id: "B1", blocks: [{ type: "header", text: plain("Disk full") }] }),
    ).toBe("Alert\nDisk full");
  });

  test("a table that a person pasted beside the words is read", () => {
    const table = { type: "table", rows: [[{ type: "raw_text", text: "a" }]] };

    expect(readable({ text: "see this", blocks: [rich(section(words("see this"))), table] })).toBe(
      "see this\na",
    );
  });
});

describe("the attachments of a message", () => {
  test.each<[string, object, string]>([
    [
      "an alert of a monitoring app",
      {
        fallback: "[FIRING] Latency",
        pretext: "Prod",
        title: "Latency",
        title_link: "https://g.example/a",
        text: "p99 &gt; 2s",
        fields: [{ title: "service", value: "api" }],
        footer: "Grafana",
      },
      "Attached:\n    Prod\n    Latency (https://g.example/a)\n    p99 > 2s\n    service: api",
    ],
    ["one with a fallback alone", { fallback: "Build 7 failed" }, "Attached:\n    Build 7 failed"],
    ["one with blocks", { blocks: [{ type: "section", text: mrkdwn("Paged") }] }, "Attached:\n    Paged"],
    [
      "the preview of a link",
      { service_name: "GitHub", from_url: "https://a.example/1", text: "Fix" },
      "Attached by GitHub, https://a.example/1:\n    Fix",
    ],
    [
      "a picture",
      { image_url: "https://a.example/i.png" },
      "Attached:\n    [image: https://a.example/i.png]",
    ],
    ["one without anything", { id: 1 }, "Attached:\n    [nothing that can be read]"],
    [
      "a forwarded message",
      {
        is_share: true,
        author_name: "Ada\nthe bot:",
        channel_name: "ops",
        from_url: "https://s.example/p1",
        text: "It broke\n&gt; really",
      },
      "A forwarded message of Ada the bot: in #ops, https://s.example/p1:\n    It broke\n    > really",
    ],
    [
      "a forwarded message that Slack marks in another way",
      { is_msg_unfurl: true, author_name: "Ada", channel_name: "ops", text: "It broke" },
      "A forwarded message of Ada in #ops:\n    It broke",
    ],
    [
      "a forwarded message in blocks",
      {
        is_share: true,
        author_id: "U7",
        text: "",
        message_blocks: [{ message: { blocks: [rich(section(words("It broke")))] } }],
      },
      "A forwarded message of U7:\n    It broke",
    ],
  ])("%s", (_name, attachment, text) => {
    expect(readable({ text: "look", attachments: [attachment] })).toBe(`look\n${text}`);
  });

  test("the files of a forwarded message are files, those of other attachments are not", () => {
    const files = [{ id: "F1", name: "a.png" }];

    expect(
      forwardedFiles({ attachments: [{ is_msg_unfurl: true, files }, { files: [{ id: "F2" }] }] }),
    ).toEqual(files);
  });
});

test("a hostile message is read within limits", () => {
  let nested: object = { type: "section", text: plain("deep") };
  for (let depth = 0; depth < 5_000; depth += 1) {
    nested = { type: "rich_text", elements: [{ type: "x", elements: [nested] }] };
  }
  const attachments = Array.from({ length: 500 }, () => ({ text: "x".repeat(50_000) }));

  const { words: own, attached } = contentOf({ blocks: [nested], attachments });

  expect(own.length).toBeLessThan(17_000);
  expect(attached.join("").length).toBeLessThan(20 * 17_000);
  for (const shape of [null, 7, "x", [], [null], [[]], { a: 1 }, [{ elements: 7, text: [null] }]]) {
    expect(() => contentOf({ text: shape, blocks: shape, attachments: shape })).not.toThrow();
    expect(() => forwardedFiles({ attachments: shape })).not.toThrow();
    expect(() => forwardedFiles({ attachments: [{ is_share: true, files: shape }] })).not.toThrow();
    expect(() =>
      contentOf({
        attachments: [{ is_share: true, files: shape, fields: shape, message_blocks: shape, blocks: shape }],
      }),
    ).not.toThrow();
  }
});

test("a name is one line that mentions nothing", () => {
  expect(plainName(" Ada\n<!channel> `x`\u2028y ")).toBe("Ada !channel x y");
  expect(plainName("x".repeat(500)).length).toBeLessThan(130);
});
