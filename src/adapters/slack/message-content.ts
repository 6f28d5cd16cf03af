import { cutText } from "../../core/basics/clean-text.ts";

/** What a message shows, in Slack's mrkdwn: https://docs.slack.dev/messaging/formatting-message-text */
export interface MessageContent {
  /** What its author wrote: `text`, and the blocks of the message that say more. */
  readonly words: string;
  /** What is attached to it, each with a heading: forwarded messages, cards of apps, previews of links. Anybody's text. */
  readonly attached: readonly string[];
  /** What of both has no text, such as pictures in blocks. */
  readonly unread: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** The members of a message that it is read from. They come from Slack unchecked. */
export interface MessageParts {
  readonly text?: unknown;
  readonly blocks?: unknown;
  readonly attachments?: unknown;
  readonly bot_id?: unknown;
  readonly room?: unknown;
}

const CHARACTERS_MAX = 16_000;
const ATTACHMENTS_MAX = 20;
/** Blocks nest at most five deep today. Hostile ones could exhaust the stack. */
const DEPTH_MAX = 20;
const NAME_LENGTH_MAX = 80;

/** Reads all texts of a message. `text` is empty, or only a summary, in most messages of apps. */
export function contentOf({ text, blocks, attachments, bot_id: botId, room }: MessageParts): MessageContent {
  const summary = textOf(text);
  const attached = listOf(attachments).slice(0, ATTACHMENTS_MAX).map(objectOf);
  const huddle = room === undefined ? "" : marked("huddle");
  const words = lines([wordsOf(summary, listOf(blocks), Boolean(botId)), huddle]);
  const parts = [words, ...attached.map(attachmentText)].map((part) => cutText(part, CHARACTERS_MAX));
  const [own = "", ...others] = parts.map((part) => part.replace(MARKED, "[$1]"));
  const unread = parts.flatMap((part) => Array.from(part.matchAll(MARKED), ([, what = ""]) => what));
  return { words: own, attached: others, unread: [...new Set(unread)] };
}

/** Parts without a text are marked by characters that no text of a message keeps, until they are collected. */
const [BEGIN, END] = ["\uE000", "\uE001"];
const MARKED = new RegExp(`${BEGIN}([^${BEGIN}${END}]*)${END}?`, "g");
const MARKS = new RegExp(`[${BEGIN}${END}]`, "g");

function marked(what: string): string {
  return `${BEGIN}${what}${END}`;
}

/** The files of the messages that a message forwards, as Slack describes them. */
export function forwardedFiles({ attachments }: Pick<MessageParts, "attachments">): readonly unknown[] {
  const attached = listOf(attachments).slice(0, ATTACHMENTS_MAX).map(objectOf);
  return attached.filter(isForwarded).flatMap(({ files }) => listOf(files));
}

/** The name of a person or channel, which its owner chose: one line that mentions and links nothing. */
export function plainName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").replace(/[<>`]/g, "");
  return cutText(plain.trim(), NAME_LENGTH_MAX);
}

/** A person's `text` says the same as their rich text. In messages of apps, either may say more than the other. */
function wordsOf(text: string, blocks: readonly unknown[], isOfApp: boolean): string {
  const isCovered = (block: unknown) => text !== "" && !isOfApp && objectOf(block).type === "rich_text";
  const shown = lines(blocks.filter((block) => !isCovered(block)).map((block) => shownText(block)));
  if (!shown.includes(BEGIN) && isWithin(shown, text)) {
    return text;
  }
  return isWithin(text, shown) ? shown : lines([text, shown]);
}

/** Whether one text has nothing to read that the other does not have, whatever the markup. */
function isWithin(one: string, other: string): boolean {
  return lettersOf(other).includes(lettersOf(one));
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

/** Members of a block that people read, whatever its type: a type that is not known yet is read, too. */
const SHOWN_TEXTS = new Set([
  "text",
  "title",
  "subtitle",
  "description",
  "body",
  "alt_text",
  "label",
  "hint",
]);
/** What an app needs, or what shows only once a person clicks. */
const HIDDEN = new Set([
  "block_id",
  "action_id",
  "value",
  "placeholder",
  "confirm",
  "options",
  "option_groups",
]);

function shownText(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) {
    return "[cut]";
  }
  const deeper = (member: unknown) => shownText(member, depth + 1);
  if (Array.isArray(value)) {
    return lines(value.map(deeper));
  }
  const part = objectOf(value);
  switch (part.type) {
    case "mrkdwn":
      return textOf(part.text);
    case "plain_text":
    case "raw_text":
    case "markdown":
      return escaped(textOf(part.text));
    case "rich_text":
      return richText(part, depth);
    case "table":
    case "data_table": {
      const rows = listOf(part.rows).map((row) => listOf(row).map(deeper).join(" | "));
      return lines([escaped(textOf(part.caption)), ...rows]);
    }
    case "feedback_buttons":
    case "icon_button":
      return "";
    case "url":
      return link(textOf(part.url), textOf(part.text));
    case "button":
      return typeof part.url === "string" ? link(part.url, deeper(part.text)) : "";
    case "image":
      return marked(
        `image: ${deeper(part.title) || escaped(textOf(part.alt_text)) || "without a description"}`,
      );
    default: {
      const shown = lines(Object.entries(part).map(([key, member]) => memberText(key, member, deeper)));
      return shown === "" ? wordlessPart(part.type) : shown;
    }
  }
}

/** Parts that show nothing, or only something to press. */
const WITHOUT_WORDS =
  /^(?:divider|actions|context_actions|.*_select|.*_picker|.*button|overflow|checkboxes|feedback.*)$/;

function wordlessPart(type: unknown): string {
  const name = kindOf(type);
  return name === "" || WITHOUT_WORDS.test(textOf(type)) ? "" : marked(name);
}

function kindOf(type: unknown): string {
  return textOf(type)
    .replace(/[^A-Za-z0-9]+/g, " ")
    .trim();
}

function memberText(key: string, member: unknown, deeper: (member: unknown) => string): string {
  if (HIDDEN.has(key)) {
    return "";
  }
  if (typeof member === "string") {
    return SHOWN_TEXTS.has(key) ? escaped(member) : key === "title_url" ? link(member, "") : "";
  }
  return deeper(member);
}

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function richText({ type, elements, ...part }: Json, depth: number): string {
  if (depth > DEPTH_MAX) {
    return "[cut]";
  }
  const inner = listOf(elements).map((element) => richText(objectOf(element), depth + 1));
  switch (type) {
    case "rich_text":
      return inner.join("\n");
    case "rich_text_list": {
      const indent = "    ".repeat(Math.min(Number(part.indent) || 0, DEPTH_MAX));
      const first = Number(part.offset) || 0;
      return inner
        .map((item, index) => `${indent}${part.style === "ordered" ? `${first + index + 1}.` : "•"} ${item}`)
        .join("\n");
    }
    case "rich_text_quote":
      return inner.join("").replace(/^/gm, "&gt; ");
    case "rich_text_preformatted":
      return `\`\`\`\n${inner.join("")}\n\`\`\``;
    case "rich_text_section":
      return inner.join("");
    default:
      return inlineText({ type, ...part }) ?? shownInline({ type, ...part, elements }, depth);
  }
}

/** Mentions of lists, canvases, files and other things have an address or nothing that can be read. */
function shownInline(part: Json, depth: number): string {
  const { type, url } = part;
  return typeof url === "string" ? link(url, kindOf(type)) : shownText(part, depth + 1);
}

function inlineText({ type, ...part }: Json): string | undefined {
  const { text, url, name, range, style } = part;
  switch (type) {
    case "text":
      return objectOf(style).code === true ? `\`${escaped(textOf(text))}\`` : escaped(textOf(text));
    case "link":
      return link(textOf(url), escaped(textOf(text)));
    case "user":
      return `<@${identifier(part.user_id)}>`;
    case "channel":
      return `<#${identifier(part.channel_id)}>`;
    case "usergroup":
      return `<!subteam^${identifier(part.usergroup_id)}>`;
    case "broadcast":
      return `<!${identifier(range)}>`;
    case "emoji":
      return `:${textOf(name)}:`;
    case "color":
      return textOf(part.value);
    case "date":
      return escaped(textOf(part.fallback));
    default:
      return undefined;
  }
}

/** https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments */
function attachmentText(attachment: Json): string {
  const { pretext, title, title_link: titleLink, text, fields, fallback, image_url: image } = attachment;
  const heading = isForwarded(attachment) ? forwardedBy(attachment) : cardOf(attachment);
  const titled = textOf(titleLink) === "" ? textOf(title) : link(textOf(titleLink), textOf(title));
  const facts = listOf(fields).map(objectOf);
  const shown = wordsOf(textOf(text), blocksOf(attachment), true);
  const body = lines([
    textOf(pretext),
    titled,
    shown,
    ...facts.map((field) =>
      [textOf(field.title), textOf(field.value)].filter((one) => one !== "").join(": "),
    ),
    textOf(image) === "" ? "" : marked(`image: ${textOf(image)}`),
  ]);
  return `${heading}\n${indented(body || textOf(fallback) || marked(NOTHING))}`;
}

const NOTHING = "nothing that can be read";

function blocksOf({ blocks, message_blocks: messages }: Json): readonly unknown[] {
  const forwarded = listOf(messages).flatMap((one) => listOf(objectOf(objectOf(one).message).blocks));
  return [...listOf(blocks), ...forwarded];
}

/** Slack marks a message that is forwarded in one way or the other, and one whose link is in the text in the second. */
function isForwarded({ is_msg_unfurl: isUnfurl, is_share: isShare }: Json): boolean {
  return isShare === true || isUnfurl === true;
}

function forwardedBy(attachment: Json): string {
  const { author_id: id, author_name: name, channel_name: channel, from_url: url } = attachment;
  const author = plainName(textOf(name)) || identifier(id) || "an unknown author";
  const place = textOf(channel) === "" ? "" : ` in #${plainName(textOf(channel))}`;
  return `A forwarded message of ${author}${place}${textOf(url) === "" ? "" : `, ${textOf(url)}`}:`;
}

function cardOf({ author_name: author, service_name: service, from_url: url }: Json): string {
  const name = plainName(textOf(service) || textOf(author));
  return `Attached${name === "" ? "" : ` by ${name}`}${textOf(url) === "" ? "" : `, ${textOf(url)}`}:`;
}

/** Lines are indented, so that a text cannot pass for the heading of another one. */
export function indented(text: string): string {
  return text.replace(/^/gm, "    ");
}

export function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function link(url: string, label: string): string {
  const address = url.replace(/[<>|\s]/g, encodeURIComponent);
  return label === "" ? `<${address}>` : `<${address}|${label.replace(/[<>]/g, "")}>`;
}

function identifier(id: unknown): string {
  return textOf(id).replace(/[^A-Za-z0-9]/g, "");
}

/** As Slack escapes what users write. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.replace(MARKS, "") : "";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
