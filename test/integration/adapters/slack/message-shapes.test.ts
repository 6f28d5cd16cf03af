import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contentOf } from "../../../../src/adapters/slack/message-content.ts";
import { messageOf, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;
beforeEach(async () => {
  fixture = await SlackFixture.open();
});
afterEach(() => fixture.close());

/** What the agent gets of a message, and what its thread is told. */
interface Read {
  readonly text: string;
  readonly context?: string | undefined;
  readonly files?: readonly string[];
  readonly unread?: readonly string[];
}

async function read(event: object): Promise<Read> {
  await fixture.slack.sendEvent(fixture.url, event as Parameters<typeof fixture.slack.sendEvent>[1]);
  const message = messageOf(await fixture.translateLast());
  const gathered = (await fixture.adapter.gather?.(message, { isFollowUp: false })) ?? {};
  const { files = [], names = new Map(), unread = [] } = gathered;
  const named = (text: string) => text.replace(/[@#][\w^]+/g, (mention) => names.get(mention) ?? mention);
  const told = [...(message.unread ?? []), ...unread];
  return {
    text: named(message.text),
    ...(message.context === undefined ? {} : { context: named(message.context) }),
    ...(files.length === 0 ? {} : { files: files.map(({ fileName }) => fileName) }),
    ...(told.length === 0 ? {} : { unread: told }),
  };
}

async function mention(changes: object, text = "look"): Promise<object> {
  const { slack } = fixture;
  const { message } = await slack.mention(slack.alice, { channel: "work", text });
  return { ...message, ...changes };
}

const own = () => `<@${fixture.slack.botUserId}> look`;
const bot = () => ({ type: "user", user_id: fixture.slack.botUserId });
const text = (words: string, style = {}) => ({ type: "text", text: words, style });
const section = (...elements: object[]) => ({ type: "rich_text_section", elements });
const rich = (...elements: object[]) => ({ type: "rich_text", elements });
const notRead = (name: string, why: string) => `I did not read the file ${name}: ${why}`;
const parts = (names: string) => `I could not read these parts of the message: ${names}.`;

/** The words of people: their `text` and their rich text say the same. */
describe("what a person writes", () => {
  test.each<[string, () => object, Read]>([
    [
      "a rich text list",
      () => ({
        text: `${own()}\n• one\n• two`,
        blocks: [
          rich(section(bot(), text(" look\n")), {
            type: "rich_text_list",
            style: "bullet",
            elements: [section(text("one")), section(text("two"))],
          }),
        ],
      }),
      { text: "look\n• one\n• two" },
    ],
    ["code", () => ({ text: `${own()}\n\`\`\`if (a &lt; b)\`\`\`` }), { text: "look\n```if (a < b)```" }],
    ["a quote", () => ({ text: `${own()}\n&gt; it broke` }), { text: "look\n> it broke" }],
    [
      "a table beside the words",
      () => ({
        text: own(),
        blocks: [
          rich(section(bot(), text(" look"))),
          {
            type: "table",
            rows: [
              [
                { type: "raw_text", text: "a" },
                { type: "raw_text", text: "b" },
              ],
            ],
          },
        ],
      }),
      { text: "look\na | b" },
    ],
    [
      "a call beside the words",
      () => ({ text: `${own()} at the call`, blocks: [{ type: "call", call_id: "R1" }] }),
      { text: "look at the call\n[call]", unread: [parts("call")] },
    ],
    ["a broadcast", () => ({ text: `${own()} <!channel> <!here|here>` }), { text: "look @channel here" }],
    [
      "names",
      () => ({ text: `${own()} with <@${fixture.slack.bob.id}> in <#${fixture.slack.channel.id}|>` }),
      { text: "look with @bob in #work" },
    ],
  ])("%s is read", async (_name, changes, expected) => {
    expect(await read(await mention(changes()))).toEqual(expected);
  });

  test("an edit has the names of people and channels as well", async () => {
    const { slack } = fixture;
    const root = await slack.postAs(slack.alice, { channel: "work", text: own() });
    const { event } = await slack.editAs(root, `${own()} with <@${slack.bob.id}>`);
    await slack.sendEvent(fixture.url, event);
    const message = messageOf(await fixture.translateLast());

    const { names, ...others } =
      (await fixture.adapter.gather?.(message, { isFollowUp: true, isEdit: true })) ?? {};

    expect(Object.fromEntries(names ?? [])).toEqual({ [`@${slack.bob.id}`]: "@bob" });
    expect(others).toEqual({});
  });

  test("a reply that is also sent to the channel is read", async () => {
    const root = await fixture.slack.postAs(fixture.slack.bob, { channel: "work", text: "It fails" });
    const changes = { subtype: "thread_broadcast", thread_ts: root.ts, root: {} };

    expect(await read(await mention(changes))).toMatchObject({ text: "look" });
  });
});

describe("what is attached", () => {
  test.each<[string, object, Read]>([
    [
      "a forwarded message with a picture",
      { is_share: true, author_name: "Bob", text: "It broke", image_url: "https://a.example/i.png" },
      {
        text: "look",
        context: "A forwarded message of Bob:\n    It broke\n    [image: https://a.example/i.png]",
        unread: [parts("image: https://a.example/i.png")],
      },
    ],
    [
      "the preview of a link",
      { service_name: "GitHub", from_url: "https://a.example/1", title: "Fix", text: "the parser" },
      { text: "look", context: "Attached by GitHub, https://a.example/1:\n    Fix\n    the parser" },
    ],
    [
      "an attachment without words",
      { id: 1 },
      {
        text: "look",
        context: "Attached:\n    [nothing that can be read]",
        unread: [parts("nothing that can be read")],
      },
    ],
    [
      "the poll of an app",
      {
        is_share: true,
        author_name: "Polls",
        text: "",
        message_blocks: [
          {
            message: {
              blocks: [
                { type: "section", text: { type: "mrkdwn", text: "*Lunch?*" } },
                {
                  type: "section",
                  text: { type: "mrkdwn", text: "1. Soup `2`" },
                  accessory: { type: "button", text: { type: "plain_text", text: "Vote" }, value: "1" },
                },
                { type: "divider" },
                { type: "video", video_url: "https://a.example/v" },
              ],
            },
          },
        ],
      },
      {
        text: "look",
        context: "A forwarded message of Polls:\n    *Lunch?*\n    1. Soup `2`\n    [video]",
        unread: [parts("video")],
      },
    ],
  ])("%s is read, and what has no words is named", async (_name, attachment, expected) => {
    expect(await read(await mention({ attachments: [attachment] }))).toEqual(expected);
  });
});

describe("files", () => {
  test.each<[string, object, string]>([
    ["a huge one", { name: "a.bin", size: 20 * 1024 * 1024 }, notRead("a.bin", "it is larger than 10 MB.")],
    [
      "an external one",
      { name: "a.doc", mode: "external", url_private_download: "https://drive.example/1" },
      notRead("a.doc", "it is stored outside of Slack."),
    ],
    ["a deleted one", { mode: "tombstone" }, notRead("without a name", "it was deleted.")],
    [
      "a hidden one",
      { name: "a.txt", mode: "hidden_by_limit" },
      notRead("a.txt", "Slack hides it, because the workspace has too many files."),
    ],
    [
      "a canvas",
      { name: "Plan", mode: "quip", filetype: "quip", mimetype: "application/vnd.slack-docs" },
      notRead("Plan", "a canvas has no file. Paste its words."),
    ],
    [
      "a list",
      { name: "Bugs", mode: "list", filetype: "list", mimetype: "application/vnd.slack-list" },
      notRead("Bugs", "a list has no file. Paste its words."),
    ],
    [
      "one of Slack Connect that is gone",
      { id: "F0GONE", mode: "file_access", file_access: "check_file_info" },
      notRead("without a name", "Slack refused files.info: file_not_found."),
    ],
  ])("%s is named as not read", async (_name, file, sentence) => {
    const stored = fixture.slack.addFile("x", "text/plain", Buffer.from("x"));
    const listed = { url_private_download: stored.url_private_download, ...file };

    expect(await read(await mention({ subtype: "file_share", files: [listed] }))).toEqual({
      text: "look",
      unread: [sentence],
    });
  });

  test.each<[string, object]>([
    ["a snippet", { mode: "snippet", filetype: "python" }],
    ["an email", { mode: "email", filetype: "email" }],
    ["one of Slack Connect", { mode: "file_access", file_access: "check_file_info" }],
  ])("%s is read", async (_name, changes) => {
    const file = fixture.slack.addFile("a.txt", "text/plain", Buffer.from("x"));

    expect(await read(await mention({ subtype: "file_share", files: [{ ...file, ...changes }] }))).toEqual({
      text: "look",
      files: ["a.txt"],
    });
  });
});

test("a huddle is no request, and the agent learns that it is in the thread", async () => {
  const { slack } = fixture;
  const root = await slack.postAs(slack.bob, { channel: "work", text: own() });
  const room = { id: "R1", call_family: "huddle" };
  await slack.sendEvent(fixture.url, { ...slack.messageEvent(root), subtype: "huddle_thread", room });

  const reason = expect.stringContaining("huddle_thread");
  expect(await fixture.translateLast()).toEqual({ kind: "ignored", reason });
  expect(contentOf({ text: "", room })).toEqual({ words: "[huddle]", attached: [], unread: ["huddle"] });
});
