/** What can stand before a fence: blanks and the markers of list items. */
export const LIST_MARKERS = "[ \\t]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)*";
/** The marks that open a block of code. */
export const FENCE_MARKS = "`{3,}(?=[^`\\n]*$)|~{3,}";

const OPENING = new RegExp(`^(?<marks>${FENCE_MARKS})(?<language>.*)$`);
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const HEADING = /^#{1,6}(?:[ \t]|$)/;
const UNDERLINE = /^(?:=+|-+)$/;
/** A longer start of a line is not repeated, so a block of code there is not continued. */
const MAX_PREFIX = 60;
const MAX_LANGUAGE = 120;
/** So many markers of list items, and of quotes, are read in one line. */
const MAX_DEPTH = 20;
const QUOTE = /^[ \t]*> ?/;

export type LineKind = "blank" | "text" | "quote" | "heading" | "underline" | "rule" | "table" | "code";

export interface MarkdownLine {
  readonly text: string;
  readonly kind: LineKind;
  /** The marks of the quotes around the line, such as `> `. */
  readonly quote: string;
  /** The block of code that is open after the line. */
  readonly fence: OpenFence | undefined;
  /** The heading and the delimiter of the table, on its other rows. */
  readonly tableHead: string | undefined;
}

export interface OpenFence {
  /** The lines that open and close the block in its quote or list item. */
  readonly opening: string;
  readonly closing: string;
}

interface Fence extends OpenFence {
  readonly marks: string;
  /** How many quotes it stands in, and how far the text of its list item is indented. */
  readonly depth: number;
  readonly offset: number;
}

/** Says of each line of a Markdown text what it is a part of. */
export function readLines(markdown: string): MarkdownLine[] {
  const texts = markdown.split("\n");
  const reader = new LineReader();
  return texts.map((text, index) => reader.read(text, texts[index + 1] ?? ""));
}

class LineReader {
  #fence: Fence | undefined;
  #depth = 0;
  /** How far the texts of the list items around a line are indented. */
  #offsets: number[] = [];
  #before: LineKind = "blank";
  #table: readonly string[] = [];

  read(text: string, next: string): MarkdownLine {
    const { depth, quote, rest } = withoutQuotes(text, this.#fence?.depth);
    const kind = this.#isInFence(depth, rest) ? "code" : this.#kindOf({ depth, quote, rest, next });
    const tableHead = this.#tableHead(kind, text);
    this.#before = kind;
    return { text, kind, quote, fence: this.#fence, tableHead };
  }

  /** Closes the fence at its closing line, and where its quote or list item ends. */
  #isInFence(depth: number, rest: string): boolean {
    const fence = this.#fence;
    if (fence === undefined) {
      return false;
    }
    const words = rest.trim();
    if (depth < fence.depth || (words !== "" && indentOf(rest) < fence.offset)) {
      this.#fence = undefined;
      return false;
    }
    const isClosing = words.startsWith(fence.marks) && words === (fence.marks[0] ?? "").repeat(words.length);
    if (isClosing && indentOf(rest) < fence.offset + 4) {
      this.#fence = undefined;
    }
    return true;
  }

  #kindOf({ depth, next, quote, rest }: LineParts): LineKind {
    if (depth !== this.#depth) {
      this.#depth = depth;
      this.#offsets = [];
    }
    if (rest.trim() === "") {
      return "blank";
    }
    const words = this.#withoutItems(rest);
    if (this.#opensFence({ depth, quote, rest, words })) {
      return "code";
    }
    if (UNDERLINE.test(words.trim()) && this.#before === "text") {
      return "underline";
    }
    if (RULE.test(words)) {
      return "rule";
    }
    if (HEADING.test(words)) {
      return "heading";
    }
    const inTable = words.includes("|") && (this.#before === "table" || isDelimiter(next));
    return inTable ? "table" : depth > 0 ? "quote" : "text";
  }

  /** What stands in a line after the markers of list items. */
  #withoutItems(rest: string): string {
    const indent = indentOf(rest);
    this.#offsets = this.#offsets.filter((offset) => offset <= indent);
    let words = rest;
    for (let count = 0; count < MAX_DEPTH; count += 1) {
      const item = RULE.test(words) ? null : ITEM.exec(words);
      if (item === null) {
        break;
      }
      words = words.slice(item[0].length);
      this.#offsets.push(rest.length - words.length);
    }
    return words.trimStart();
  }

  #opensFence({ depth, quote, rest, words }: Omit<LineParts, "next"> & { readonly words: string }): boolean {
    const { marks, language = "" } = OPENING.exec(words)?.groups ?? {};
    const offset = this.#offsets.at(-1) ?? 0;
    const column = rest.length - words.length;
    const prefix = quote + " ".repeat(column);
    if (marks === undefined || column > offset + 3 || prefix.length > MAX_PREFIX) {
      return false;
    }
    const opening = `${prefix}${marks}${language.slice(0, MAX_LANGUAGE)}`;
    this.#fence = { marks, depth, offset, opening, closing: `${prefix}${marks}` };
    return true;
  }

  #tableHead(kind: LineKind, text: string): string | undefined {
    if (kind !== "table") {
      this.#table = [];
      return undefined;
    }
    if (this.#table.length < 2) {
      this.#table = [...this.#table, text];
      return undefined;
    }
    return this.#table.join("\n");
  }
}

interface LineParts {
  readonly depth: number;
  readonly quote: string;
  readonly rest: string;
  readonly next: string;
}

function withoutQuotes(text: string, most = MAX_DEPTH): Omit<LineParts, "next"> {
  let depth = 0;
  let rest = text;
  for (let mark = QUOTE.exec(rest); mark !== null && depth < most; mark = QUOTE.exec(rest)) {
    rest = rest.slice(mark[0].length);
    depth += 1;
  }
  return { depth, quote: text.slice(0, text.length - rest.length), rest };
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** The row under the heading of a table. */
function isDelimiter(line: string): boolean {
  const row = withoutQuotes(line).rest.trim();
  const cells = row.replace(/^\|/, "").replace(/\|$/, "").split("|");
  return row.includes("|") && cells.every((cell) => /^:?-+:?$/.test(cell.trim()));
}

/**
 * Moves the start of a text that stood in a list to the margin, because what is indented far without a list is code.
 * Ends at the first line that is not indented.
 */
export function outdent(markdown: string): string {
  const least: number[] = [];
  return markdown
    .split("\n")
    .map((line) => (line.trim() === "" ? line : outdentLine(line, least)))
    .join("\n");
}

/** `least` has the least indentation of the lines so far, also within quotes. */
function outdentLine(line: string, least: number[]): string {
  let done = "";
  let rest = line;
  for (let depth = 0; ; depth += 1) {
    const removed = Math.min(least[depth] ?? Number.POSITIVE_INFINITY, indentOf(rest));
    least[depth] = removed;
    rest = rest.slice(removed);
    const mark = QUOTE.exec(rest)?.[0];
    if (mark === undefined || depth === MAX_DEPTH) {
      least.fill(0, depth + 1);
      return done + rest;
    }
    done += mark;
    rest = rest.slice(mark.length);
  }
}
