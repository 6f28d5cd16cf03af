import { quotedMailStart } from "../../core/model/threads/own-words.ts";
import { splitMarkdown, visibleText } from "./shown-text.ts";

const QUOTED = /^ {0,3}>/;
const INDENTED = /^(?: {4}|\t)/;
/** Addresses the bot at the start of a line, whatever the name of the App is. */
const COMMAND = "/errand";
/** After one of these it is an address or a path. Scripts without spaces, such as Chinese, stand right beside a mention. */
const BEFORE = "[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}_@/.-]";
/** Unclosed code ends with its paragraph. */
const HTML_CODE =
  /<pre(?=[\s>])[\s\S]*?(?:<\/pre\s*>|$)|<code(?=[\s>])[\s\S]*?(?:<\/code\s*>|\n[ \t]*\n|$)/gi;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;

/** The text as users see it on the page: without HTML comments and invisible characters. */
export function visibleMarkdown(markdown: string): string {
  const parts = splitMarkdown(visibleText(markdown));
  return parts.map((part) => (part.kind === "comment" ? "" : part.source)).join("");
}

/**
 * True when `@name` is a separate word in the text, or a line begins with `/errand`, outside code, quotes and HTML
 * comments. `name` is a GitHub login, so it has no special characters of regular expressions.
 */
export function hasMention(markdown: string, name: string): boolean {
  return mentionsIn(visibleMarkdown(markdown), name).length > 0;
}

/** True when the text addresses the bot only by lines that begin with `/errand`. */
export function isCommand(markdown: string, name: string): boolean {
  const mentions = mentionsIn(visibleMarkdown(markdown), name);
  return mentions.length > 0 && mentions.every(([words]) => !words.startsWith("@"));
}

/** The visible text without its mentions of `name`. */
export function withoutMention(markdown: string, name: string): string {
  const visible = visibleMarkdown(markdown);
  let text = "";
  let end = 0;
  for (const mention of mentionsIn(visible, name)) {
    text += visible.slice(end, mention.index);
    end = mention.index + mention[0].length;
  }
  return (text + visible.slice(end)).trim();
}

function mentionsIn(visible: string, name: string): RegExpExecArray[] {
  const pattern = new RegExp(
    `(?:(?<!${BEFORE})@${name}(?:\\[bot\\])?|^ {0,3}${COMMAND})(?![A-Za-z\\d_/-]|\\.\\p{L})[,:]?[ \\t]*`,
    "gimu",
  );
  return [...masked(visible).matchAll(pattern)];
}

/** The text with code, quotes and quoted mail replaced by blanks of the same length. */
function masked(visible: string): string {
  const parts = splitMarkdown(visible);
  const texts = parts.map((part) => (part.kind === "text" ? part.source : blank(part.source))).join("");
  const outsideCode = withoutLongSpans(texts).replace(HTML_CODE, blank);
  const hidden = hiddenLines(visible.split("\n"));
  const lines = outsideCode.split("\n");
  return lines.map((line, index) => (hidden[index] ? blank(line) : line)).join("\n");
}

/** The text with code spans over several lines replaced. They end within their paragraph. */
function withoutLongSpans(text: string): string {
  return text
    .split(/(\n[ \t]*\n)/)
    .map((paragraph) => (paragraph.includes("`") ? withoutSpans(paragraph) : paragraph))
    .join("");
}

function withoutSpans(paragraph: string): string {
  const marks = Array.from(paragraph.matchAll(/(?<!\\)`+/g), ({ 0: { length }, index }) => ({
    index,
    length,
  }));
  const lastOf = new Map(marks.map(({ index, length }) => [length, index]));
  let masked = "";
  let end = 0;
  for (const { index, length } of marks) {
    if (index < end || lastOf.get(length) === index) {
      continue;
    }
    const close = marks.find((other) => other.index > index && other.length === length);
    const closeEnd = (close?.index ?? index) + length;
    masked += paragraph.slice(end, index) + blank(paragraph.slice(index, closeEnd));
    end = closeEnd;
  }
  return masked + paragraph.slice(end);
}

/**
 * True for lines that are quoted, indented code, or the mail that a reply by mail has below it. An indented line in a list is a paragraph of the list, not code.
 */
function hiddenLines(lines: readonly string[]): boolean[] {
  let isInList = false;
  let mayBeCode = true;
  const mailStart = quotedMailStart(lines);
  return lines.map((line, index) => {
    const isBlank = line.trim() === "";
    if (LIST_ITEM.test(line) && !INDENTED.test(line)) {
      isInList = true;
    } else if (/^\S/.test(line)) {
      isInList = false;
    }
    const isCode = !isBlank && !isInList && mayBeCode && INDENTED.test(line);
    mayBeCode = isBlank || isCode;
    return isCode || QUOTED.test(line) || index >= mailStart;
  });
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, "~");
}
