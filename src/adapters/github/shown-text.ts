import { withoutTerminalCodes } from "../../core/basics/clean-text.ts";
import { FENCE_MARKS, LIST_MARKERS } from "../markdown-lines.ts";

/** The named entities of characters that have a meaning in Markdown, and of those that show nothing. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  NewLine: "\n",
  Tab: "\t",
  shy: "",
  zwj: "",
  zwnj: "",
  lrm: "",
  rlm: "",
  ZeroWidthSpace: "",
  NegativeVeryThinSpace: "",
  NegativeThinSpace: "",
  NegativeMediumSpace: "",
  NegativeThickSpace: "",
  NoBreak: "",
  ApplyFunction: "",
  af: "",
  InvisibleTimes: "",
  it: "",
  InvisibleComma: "",
  ic: "",
};
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,24}));/g;
/** The title of a link, `[text](address "title")`, is not on the page. */
const LINK_TITLE = /(\]\(\s*[^\s()]+)\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*\)/g;
/** The words after the language of a fenced block are not on the page. */
const LANGUAGE = /^[\w+#.-]{1,20}/;

/**
 * The text that GitHub's page shows: without HTML comments, tags and their attributes, elements that are hidden,
 * images with their alternative texts, titles of links, and invisible characters, also those written as entities.
 * The addresses of links stay, because work often needs them.
 */
export function shownText(markdown: string): string {
  return visibleText(splitShown(visibleText(markdown)).map(shownPart).join(""));
}

function shownPart({ kind, language, source }: MarkdownPart): string {
  switch (kind) {
    case "comment":
      return "";
    case "fence":
      return source.replace(language, LANGUAGE.exec(language)?.[0] ?? "");
    case "span":
      return source;
    case "text":
      return source.replace(LINK_TITLE, "$1)").replace(ENTITY, decoded);
  }
}

function decoded(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) {
    return ENTITIES[name] ?? entity;
  }
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : "";
}

/** Format characters (zero width, direction marks, tags), fillers and variation selectors that can carry hidden text. */
const INVISIBLE =
  /(?![\u200C\u200D])\p{Cf}|\u034F|[\u115F\u1160]|[\u17B4\u17B5]|[\u180B-\u180F]|[\u2800\u3164\uFFA0]|[\uFE00-\uFE0D]|[\u{E0100}-\u{E01EF}]|(?<=[\uFE0E\uFE0F])[\uFE0E\uFE0F]/gu;
/**
 * Joiners are needed in Persian, Indic scripts and emoji. A single one between two characters outside ASCII is not
 * removed.
 */
const STRAY_JOINER =
  /(?<![^\p{ASCII}\u200C\u200D])[\u200C\u200D]|[\u200C\u200D](?![^\p{ASCII}\u200C\u200D])/gu;
const CONTROL = /[^\P{Cc}\n\t]/gu;

/** The text as a user sees it: no terminal codes, control or invisible characters, no broken surrogates. */
export function visibleText(text: string): string {
  return withoutTerminalCodes(text.toWellFormed())
    .replace(/\r\n?|\u2028|\u2029/g, "\n")
    .replace(CONTROL, "")
    .replace(INVISIBLE, "")
    .replace(STRAY_JOINER, "");
}

/** Visible text on one line, at most `limit` characters of it. */
export function oneLine(text: string, limit: number): string {
  const line = visibleText(text).replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${withoutHalfCharacter(line.slice(0, limit - 1))}…`;
}

export function withoutHalfCharacter(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}

/** A piece of Markdown. The `source` of all pieces together is the whole text. */
export interface MarkdownPart {
  readonly kind: "text" | "fence" | "span" | "comment";
  readonly source: string;
  /** The text between the marks of a fence or span. */
  readonly content: string;
  readonly language: string;
}

/** A fence can also be the first thing in a list item. */
const FENCE =
  `^(?<indent>${LIST_MARKERS})(?<marks>${FENCE_MARKS})(?<language>[^\\n]*)` +
  "(?:\\n(?<code>[^]*?)(?:^[ \\t]*\\k<marks>[`~]*[ \\t]*$|(?![^]))|(?![^]))";
/** Limited to one line, because otherwise a stray backtick would swallow the rest of the paragraph. */
const SPAN = "(?<![`\\\\])(?<ticks>`+)(?!`)(?<inline>[^\\n]*?[^`\\n])\\k<ticks>(?!`)";
const COMMENT = "<!--(?:-?>|[^]*?(?:-->|(?![^])))";

const CODE = new RegExp(`${FENCE}|${SPAN}`, "gm");
const CODE_AND_COMMENTS = new RegExp(`${FENCE}|${SPAN}|${COMMENT}`, "gm");

/** Splits into text, code and HTML comments. The one that begins first wins: a comment in code is code. */
export function splitMarkdown(markdown: string): MarkdownPart[] {
  return split(markdown, CODE_AND_COMMENTS);
}

/** HTML in which GitHub shows nothing, or that its author hid. Without an end it reaches to the end of the text. */
const UNSEEN_ELEMENT =
  "<(?<element>script|style|template|noscript|iframe|object|svg|math|title|textarea|xmp)(?=[\\s/>])[^]*?(?:<\\/\\k<element>\\s*>|(?![^]))";
const ATTRIBUTES = "(?:\"[^\"]*\"|'[^']*'|[^<>\"'])*";
/** A lookahead takes its first match only, so that a tag with many styles is not searched again from each of them. */
const STYLE = "(?=(?<untilStyle>[^<>]*?\\sstyle\\s*=))\\k<untilStyle>";
const HIDING =
  `(?=[^<>]*\\s(?:hidden(?=[\\s=/>])|aria-hidden)|` +
  `${STYLE}[^<>]*(?:display\\s*:\\s*none|visibility|font-size\\s*:\\s*0|opacity\\s*:\\s*0))`;
/** The space after the name is looked for first, because otherwise a long name is searched once for each of its letters. */
const HIDDEN_ELEMENT = `<(?<hidden>[a-z][a-z\\d-]*)(?=\\s)${HIDING}\\s${ATTRIBUTES}>[^]*?(?:<\\/\\k<hidden>\\s*>|(?![^]))`;
/** A tag with its attributes. The text between two tags is shown. */
const TAG = `<\\/?[a-z][a-z\\d-]*(?:\\s${ATTRIBUTES}|\\/?)>|<!\\[CDATA\\[[^]*?(?:\\]\\]>|(?![^]))|<\\?[^]*?(?:\\?>|(?![^]))|<![a-z][^<>]*>`;
/** Text in brackets that are nested at most four deep. */
const BRACKETED = [1, 2, 3, 4].reduce((inner) => `\\[(?:[^\\[\\]]|${inner})*\\]`, "\\[[^\\[\\]]*\\]");
const IMAGE = `!${BRACKETED}(?:\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)|\\[[^\\[\\]]*\\])?`;
/** Blanks with at most one line break. A text matches in one way only, otherwise many blanks take cubic time. */
const GAP = "[ \\t]*(?:\\n[ \\t]*)?";
/** `[label]: address "title"` names an address for links elsewhere. A footnote, `[^1]: text`, is shown. */
const DEFINITION = `^ {0,3}\\[(?!\\^)[^\\[\\]]+\\]:${GAP}[^\\s]+(?:${GAP}(?:"[^"]*"|'[^']*'|\\([^()]*\\)))?[ \\t]*$`;

const CODE_AND_UNSEEN = new RegExp(
  [FENCE, SPAN, COMMENT, UNSEEN_ELEMENT, HIDDEN_ELEMENT, TAG, IMAGE, DEFINITION].join("|"),
  "gim",
);

/** Splits into text, code, and everything that GitHub's page does not show as text (kind `comment`). */
function splitShown(markdown: string): MarkdownPart[] {
  return split(markdown, CODE_AND_UNSEEN);
}

/** Splits into text and code only. */
export function splitCode(markdown: string): MarkdownPart[] {
  return split(markdown, CODE);
}

function split(markdown: string, pattern: RegExp): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  let end = 0;
  for (const match of markdown.matchAll(pattern)) {
    if (match.index > end) {
      parts.push(textPart(markdown.slice(end, match.index)));
    }
    parts.push(partOf(match));
    end = match.index + match[0].length;
  }
  if (end < markdown.length) {
    parts.push(textPart(markdown.slice(end)));
  }
  return parts;
}

function partOf(match: RegExpExecArray): MarkdownPart {
  const { marks, ticks, indent = "", language = "", code = "", inline = "" } = match.groups ?? {};
  const source = match[0];
  if (marks !== undefined) {
    return { kind: "fence", source, content: outdented(code, indent), language: language.trim() };
  }
  if (ticks !== undefined) {
    return { kind: "span", source, content: inline, language: "" };
  }
  return { kind: "comment", source, content: "", language: "" };
}

function outdented(code: string, indent: string): string {
  if (indent === "") {
    return code;
  }
  return code.replace(new RegExp(`^[ \\t]{1,${indent.length}}`, "gm"), "");
}

function textPart(source: string): MarkdownPart {
  return { kind: "text", source, content: "", language: "" };
}
