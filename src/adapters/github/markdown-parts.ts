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
  "^(?<indent>[ \\t]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)*)(?<marks>`{3,}(?=[^`\\n]*$)|~{3,})(?<language>[^\\n]*)" +
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
