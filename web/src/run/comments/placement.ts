import type { LineComment } from "@errand/client";
import { type DiffLine, type Hunk, rangeOf } from "../text/diff.ts";

export type Side = LineComment["side"];

/** Lines of one side of a file. */
export interface LineRange {
  readonly side: Side;
  readonly from: number;
  readonly to: number;
}

/** So many lines before the first one are quoted too. */
const CONTEXT = 3;
/** More lines, and longer ones, are cut: the server takes 16,000 characters. */
const LINES_MAX = 30;
const LENGTH_MAX = 400;

export function numberOn(side: Side, { newLine, oldLine }: DiffLine): number | undefined {
  return side === "left" ? oldLine : newLine;
}

/** The lines of the diff down to the last line of the range, as they travel with a comment. */
export function quoted(hunks: readonly Hunk[], { from, side, to }: LineRange): string {
  const numbers = (lines: readonly DiffLine[]) => lines.map((line) => numberOn(side, line));
  const lines = hunks.find((hunk) => numbers(hunk.lines).includes(to))?.lines ?? [];
  const last = numbers(lines).indexOf(to);
  const first = numbers(lines).indexOf(from);
  const start = Math.max(0, (first === -1 ? last : first) - CONTEXT, last + 1 - LINES_MAX);
  const shown = lines.slice(start, last + 1);
  return [rangeOf({ heading: "", lines: shown }), ...shown.map(({ sign, text }) => sign + cut(text))].join(
    "\n",
  );
}

function cut(text: string): string {
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX).toWellFormed()}…` : text;
}

/**
 * The line of the present changes that a comment is about: the one with its number, or the only other one with the same
 * text. Undefined: the line is gone.
 */
export function placeOf({ hunk, line, side }: LineComment, hunks: readonly Hunk[]): DiffLine | undefined {
  const lines = hunks.flatMap((each) => each.lines).filter((each) => numberOn(side, each) !== undefined);
  const atNumber = lines.find((each) => numberOn(side, each) === line);
  if (hunk === "") {
    return atNumber;
  }
  const text = hunk.slice(hunk.lastIndexOf("\n") + 1).slice(1);
  if (atNumber !== undefined && cut(atNumber.text) === text) {
    return atNumber;
  }
  const same = lines.filter((each) => cut(each.text) === text);
  return same.length === 1 ? same[0] : undefined;
}

export function linesIn(hunks: readonly Hunk[], range: LineRange | undefined): ReadonlySet<DiffLine> {
  const isIn = (line: DiffLine) => {
    const number = range && numberOn(range.side, line);
    return number !== undefined && range !== undefined && number >= range.from && number <= range.to;
  };
  return new Set(range === undefined ? [] : hunks.flatMap(({ lines }) => lines.filter(isIn)));
}

/** "line 41", "lines 40 to 41 before the changes". */
export function wordsOf({ from, side, to }: LineRange): string {
  const lines = from === to ? `line ${to}` : `lines ${from} to ${to}`;
  return side === "left" ? `${lines} before the changes` : lines;
}

export function rangeOfComment({ line, side, start_line: from = line }: LineComment): LineRange {
  return { side, from, to: line };
}
