import { LIST_MARKERS, type LineKind, type MarkdownLine, outdent, readLines } from "../markdown-lines.ts";
import { defuse } from "./defuse.ts";

/** An answer is shown in at most so many messages. */
const MAX_PARTS = 4;
/**
 * One markdown block takes 12,000 characters, and a whole message about 13,200, which is not documented:
 * https://github.com/slackapi/bolt-js/issues/2509
 */
const MAX_PART = 11_000;
/** Slack makes blocks of a markdown block, and a message has at most 50. Headings, tables and rules are blocks of their own. */
const MAX_ELEMENTS = 40;
const MAX_FENCE = 50;
const LONG_FENCE = /`{51,}|~{51,}/g;
/** The most characters of a line that closes a block of code. */
const MAX_CLOSING = 111;
/** The heading of a table is repeated only if it leaves room for rows. */
const MAX_TABLE_HEAD = 2_000;

const HEADING = new RegExp(`^([ \\t>]*${LIST_MARKERS})#{1,6}[ \\t]*(.*)$`);

export interface AnswerParts {
  /** Each is Markdown of its own: a code block or table that is cut begins again in the next one. */
  readonly parts: readonly string[];
  /** Not all of the text is in the parts. */
  readonly isCut: boolean;
}

/** About the number of messages that a text takes. */
export function partsOf(text: string): number {
  return answerParts(text, 0).parts.length;
}

/** Splits a text at its paragraphs, or else at lines or words. `room` is for what is added to the last part. */
export function answerParts(text: string, room: number): AnswerParts {
  const whole = defuse(text, MAX_PARTS * MAX_PART);
  const safe = whole.text.replace(LONG_FENCE, (run) => run.slice(0, MAX_FENCE));
  const count = elementStarts(readLines(safe)).length;
  let rest = count > MAX_PARTS * MAX_ELEMENTS ? withFewerElements(safe) : safe;
  const parts: string[] = [];
  while (rest !== "" && parts.length < MAX_PARTS) {
    const cut = cutPart(rest, MAX_PART - room);
    parts.push(cut.part);
    rest = cut.rest;
  }
  return { parts: parts.length === 0 ? ["(no words)"] : parts, isCut: whole.isCut || rest !== "" };
}

/** The same words with bold lines as headings, and tables as code, for which Slack needs few blocks. */
export function withFewerElements(markdown: string): string {
  const lines = readLines(markdown);
  const shown = lines.map(({ kind, quote, text }, index) => {
    if (kind === "heading") {
      return text.replace(HEADING, (_line, before: string, words: string) => {
        const isPlain = words !== "" && !/[*_`]/.test(words);
        return isPlain ? `${before}**${words.trim()}**\n` : `${before}${words}\n`;
      });
    }
    if (kind === "underline" || kind === "rule") {
      return "";
    }
    const starts = kind === "table" && lines[index - 1]?.kind !== "table" ? `${quote}\`\`\`\n` : "";
    const ends = kind === "table" && lines[index + 1]?.kind !== "table" ? `\n${quote}\`\`\`` : "";
    return `${starts}${text}${ends}`;
  });
  return shown.join("\n");
}

interface Cut {
  readonly part: string;
  readonly rest: string;
}

/** The first part of a text, and the others as a text of its own. */
function cutPart(markdown: string, limit: number): Cut {
  const lines = readLines(markdown);
  const place = placeOf(lines, markdown, limit - MAX_CLOSING);
  const { at, isInLine, line } = place;
  const next = lines[line];
  const open = isInLine || at === markdown.length ? next?.fence : lines[line - 1]?.fence;
  const head = markdown.slice(0, at).trimEnd();
  const part = open === undefined ? head : `${head}\n${open.closing}`;
  if (open !== undefined && next?.fence === open) {
    return { part, rest: withStart(open.opening, markdown.slice(at)) };
  }
  const isClosing = open !== undefined && next?.kind === "code" && next.fence === undefined;
  const tail = markdown.slice(isClosing ? at + next.text.length : at).replace(/^(?:\n+| )/, "");
  return { part, rest: isInLine ? outdent(`${next?.quote ?? ""}${tail}`) : withStart(next?.tableHead, tail) };
}

/** Begins with the line of a block of code, or the heading of a table, that continues. */
function withStart(start: string | undefined, tail: string): string {
  const isRepeated = start !== undefined && start.length <= MAX_TABLE_HEAD && tail !== "";
  return outdent(isRepeated ? `${start}\n${tail}` : tail);
}

interface Place {
  /** The number of characters before the cut. */
  readonly at: number;
  /** The line that the cut is in, or that begins after it. */
  readonly line: number;
  readonly isInLine: boolean;
}

/** The end of the text if all of it fits, or else the best place to cut. */
function placeOf(lines: readonly MarkdownLine[], markdown: string, room: number): Place {
  const most = elementStarts(lines)[MAX_ELEMENTS];
  if (most === undefined && markdown.length <= room) {
    return { at: markdown.length, line: lines.length - 1, isInLine: false };
  }
  const starts = startsOf(lines);
  const best = (from: number, isGood: (line: number) => boolean): number | undefined => {
    const found = starts.findLastIndex(
      (at, line) => line > 0 && at <= room && at > room * from && isGood(line),
    );
    return found === -1 ? undefined : found;
  };
  const line =
    most !== undefined && (starts[most] ?? 0) <= room
      ? most
      : (best(0.6, (index) => lines[index - 1]?.kind === "blank") ??
        best(0.8, (index) => !isWithin(lines, index)) ??
        best(0.6, (index) => !isHeadOfTable(lines, index)));
  if (line !== undefined) {
    return { at: starts[line] ?? 0, line, isInLine: false };
  }
  const head = markdown.slice(0, room);
  const space = head.lastIndexOf(" ");
  const at = space > room * 0.8 ? space : head.replace(/[\uD800-\uDBFF]$/, "").length;
  return { at, line: starts.findLastIndex((start) => start <= at), isInLine: true };
}

/** How many characters stand before each line. */
function startsOf(lines: readonly MarkdownLine[]): number[] {
  let at = 0;
  return lines.map(({ text }) => {
    const start = at;
    at += text.length + 1;
    return start;
  });
}

/** A cut before this line would be within a block of code or a table. */
function isWithin(lines: readonly MarkdownLine[], index: number): boolean {
  const [before, line] = [lines[index - 1], lines[index]];
  const isInCode = before?.fence !== undefined && line?.kind === "code";
  return isInCode || (line?.kind === "table" && before?.kind === "table") || line?.kind === "underline";
}

/** A cut before this line would separate the heading of a table from its delimiter, or that of a text. */
function isHeadOfTable(lines: readonly MarkdownLine[], index: number): boolean {
  const [before, line] = [lines[index - 1], lines[index]];
  const isDelimiter = line?.kind === "table" && line.tableHead === undefined && before?.kind === "table";
  return isDelimiter || line?.kind === "underline";
}

/** The lines that probably begin a block of Slack's, which makes one of all that stands between these. */
function elementStarts(lines: readonly MarkdownLine[]): number[] {
  let before: LineKind | undefined;
  return lines.flatMap(({ kind }, index) => {
    if (kind === "blank") {
      before = before === "table" ? undefined : before;
      return [];
    }
    const own: LineKind = isElement(kind) ? kind : "text";
    const isStart = (own !== "text" && own !== "table") || own !== before;
    before = own;
    return isStart ? [kind === "underline" ? index - 1 : index] : [];
  });
}

function isElement(kind: LineKind): boolean {
  return kind === "heading" || kind === "underline" || kind === "rule" || kind === "table";
}
