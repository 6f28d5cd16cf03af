import { quotedMailStart } from "../../core/model/threads/own-words.ts";
import { splitMarkdown, visibleText } from "./shown-text.ts";

const QUOTED = /^ {0,3}>/;
const INDENTED = /^(?: {4}|\t)/;
/** Addresses the bot at the start of a line, whatever the name of the App is. */
const COMMAND = "/errand";
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
    `(?:(?<![\\p{L}\\p{N}_@/.-])@${name}(?:\\[bot\\])?|^ {0,3}${COMMAND})(?![\\p{L}\\p{N}_/-]|\\.\\w)[,:]?[ \\t]*`,
    "gimu",
  );
  return [...masked(visible).matchAll(pattern)];
}

/** The text with code, quotes and quoted mail replaced by blanks of the same length. */
function masked(visible: string): string {
  const parts = splitMarkdown(visible);
  const outsideCode = parts.map((part) => (part.kind === "text" ? part.source : blank(part.source))).join("");
  const hidden = hiddenLines(visible.split("\n"));
  const lines = outsideCode.split("\n");
  return lines.map((line, index) => (hidden[index] ? blank(line) : line)).join("\n");
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
