import { fenced } from "../../core/basics/fenced.ts";
import { type MarkdownPart, splitCode, visibleText, withoutHalfCharacter } from "./shown-text.ts";

/** An invisible character that is put after the `@`, written so that it survives copying the source. */
const BREAK = "&#8203;";
const IMAGE_REMOVED = "_(image removed)_";
/**
 * Blocks that GitHub renders as pictures, or as a button that changes the code. As plain code they show the same
 * text.
 */
const DRAWN = new Set(["mermaid", "math", "geojson", "topojson", "stl", "suggestion"]);
/** An inline code span of only these characters contains nothing that has a meaning outside of code. */
const HARMLESS_SPAN = /^[\w .,;:(){}=+*?%/'"~^-]*$/;
const LONGEST_TICKS = 16;
/**
 * A last line that became the opening of a fence only through the cut. It would turn Errand's own text after it into
 * code.
 */
const FENCE_BY_CUT = /(?<=^|\n)[ \t]*`{3,}[^\n]*$/;

export interface Defused {
  readonly markdown: string;
  readonly isCut: boolean;
}

/**
 * Makes untrusted Markdown safe for a comment of the bot, cut to `limit` characters. GitHub and this code can differ
 * in what they take for code, so safety must not depend on it. Fenced code gets a new fence that cannot be mistaken,
 * inline code is escaped, and all other text loses its HTML, images and mentions. With `hasLinks: false`, no link has
 * other words than its address.
 */
export function defuse(
  text: string,
  limit: number,
  { hasLinks = true }: { readonly hasLinks?: boolean | undefined } = {},
): Defused {
  // Text far beyond the limit is never shown, and one line can be a megabyte.
  const start = withoutHalfCharacter(text.slice(0, 2 * limit));
  const split = splitCode(withoutMarkers(visibleText(start).trim()));
  const parts = hasLinks ? split : split.map(withoutLinks);
  let markdown = "";
  for (const part of parts) {
    const addition = additionOf(part, markdown);
    const room = limit - markdown.length;
    if (addition.length > room) {
      const rest = cut(part, markdown, room);
      const isFence = part.kind === "fence" && rest !== "";
      const whole = isFence ? markdown + rest : (markdown + rest).replace(FENCE_BY_CUT, "");
      return { markdown: whole.trimEnd(), isCut: true };
    }
    markdown += addition;
  }
  return { markdown: markdown.trimEnd(), isCut: start.length < text.length };
}

function withoutLinks(part: MarkdownPart): MarkdownPart {
  return part.kind === "text" ? { ...part, source: part.source.replace(/[\\[\]]/g, "\\$&") } : part;
}

/** Untrusted text on one line, without any markup. */
export function defuseLine(line: string): string {
  const escaped = line.replace(/[\\`*_[\]()#!|~$]/g, "\\$&");
  return withoutMentions(withoutHtml(escaped));
}

/**
 * Comments are found again by these markers. They are split and not removed, because removing one can leave another
 * behind.
 */
function withoutMarkers(text: string): string {
  return text.replace(/errand:(?=message-key|delivery|approve|review|finding)/gi, "errand: ");
}

/** The exact text as fenced code. Undefined: it is longer than `limit`, or must not be shown as it is. */
export function exactCode(text: string, language: string, limit: number): string | undefined {
  if (text.length > limit || withoutMarkers(visibleText(text)) !== text) {
    return undefined;
  }
  const code = codeBlock(text, language).trimEnd();
  return code.length > limit ? undefined : code;
}

function additionOf(part: MarkdownPart, before: string): string {
  if (part.kind === "fence") {
    return blankLineAfter(before) + codeBlock(part.content, part.language);
  }
  if (part.kind === "span") {
    return codeSpan(part.content);
  }
  return defusedText(before.endsWith("\n\n") ? part.source.replace(/^(?:[ \t]*\n)+/, "") : part.source);
}

/** Cuts a piece to the room that is left, so that it remains complete Markdown. */
function cut(part: MarkdownPart, before: string, room: number): string {
  if (part.kind === "span") {
    return "";
  }
  if (part.kind === "text") {
    return cutText(defusedText(part.source), room);
  }
  const frame = additionOf({ ...part, content: "" }, before).length + 2 * LONGEST_TICKS;
  const code = cutText(shortTicks(part.content), room - frame);
  return code === "" ? "" : additionOf({ ...part, content: code }, before);
}

/** Cuts at the end of a line if one is near, never within an entity or a character. */
function cutText(text: string, room: number): string {
  if (room <= 0) {
    return "";
  }
  const head = text.slice(0, room);
  const line = head.lastIndexOf("\n");
  if (line > room * 0.9) {
    return head.slice(0, line);
  }
  return withoutHalfCharacter(head.replace(/&[#\w]{0,8}$/, ""));
}

function codeBlock(content: string, language: string): string {
  return `${fenced(content.replace(/\n$/, ""), safeLanguage(language))}\n\n`;
}

function safeLanguage(language: string): string {
  const name = /^[\w+#.-]{1,30}/.exec(language)?.[0] ?? "";
  return DRAWN.has(name.toLowerCase()) ? "" : name;
}

/** A run of backticks needs a longer fence, for which there may be no room. */
function shortTicks(code: string): string {
  return code.replace(/`{17,}/g, "`".repeat(LONGEST_TICKS));
}

/** In HTML every character can be written as its number, so it is never markup. */
function codeSpan(content: string): string {
  if (HARMLESS_SPAN.test(content)) {
    return `\`${content}\``;
  }
  return `<code>${content.replace(/[^A-Za-z0-9 .,;]/gu, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}

function defusedText(text: string): string {
  return withoutMentions(withoutImages(withoutHtml(text)));
}

function withoutHtml(text: string): string {
  return text
    .replace(/<(https?:\/\/[^\s<>]+)>/gi, "$1")
    .replace(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;");
}

/** Browsers fetch an image when the comment is displayed, which sends its address to the owner of the host. */
function withoutImages(text: string): string {
  // The length is bounded, because otherwise a line with a thousand openings is scanned a thousand times. A longer
  // one only loses its `!`.
  return text
    .replace(/!\[[^\]\n]{0,300}\]\([^()\n]{0,2000}\)/g, IMAGE_REMOVED)
    .replace(/(?<!!)!+(?=\[)/g, "");
}

function withoutMentions(text: string): string {
  return text
    .replace(/https?:\/\/\S+/gi, (url) => url.replaceAll("@", "%40"))
    .replace(/@(?=[\p{L}\p{N}_])/gu, `@${BREAK}`);
}

function blankLineAfter(before: string): string {
  if (before === "" || before.endsWith("\n\n")) {
    return "";
  }
  return before.endsWith("\n") ? "\n" : "\n\n";
}
