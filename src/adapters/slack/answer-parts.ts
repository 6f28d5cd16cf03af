import { defuse } from "./defuse.ts";

/** An answer is shown in at most so many messages. */
const MAX_PARTS = 4;
/**
 * One markdown block takes 12,000 characters, and a whole message about 13,200, which is not documented:
 * https://github.com/slackapi/bolt-js/issues/2509
 */
const MAX_PART = 11_000;
const MAX_FENCE = 50;
const LONG_FENCE = /`{51,}|~{51,}/g;
/** The first line of a code block, which is repeated where the block continues. */
const MAX_FENCE_LINE = 120;
const FENCE_LINE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;

export interface AnswerParts {
  /** Each is Markdown of its own: a code block that is cut is closed and opened again. */
  readonly parts: readonly string[];
  /** Not all of the text is in the parts. */
  readonly isCut: boolean;
}

/** About the number of messages that a text takes. */
export function partsOf(text: string): number {
  return Math.min(MAX_PARTS, Math.max(1, Math.ceil(text.length / MAX_PART)));
}

/** Splits a text at its paragraphs, or else at lines or words. `room` is for what is added to the last part. */
export function answerParts(text: string, room: number): AnswerParts {
  const whole = defuse(text, MAX_PARTS * MAX_PART);
  let rest = whole.text.replace(LONG_FENCE, (run) => run.slice(0, MAX_FENCE));
  const parts: string[] = [];
  let open: string | undefined;
  while (rest !== "" && parts.length < MAX_PARTS) {
    const start = open === undefined ? "" : `${open}\n`;
    const piece = pieceOf(rest, MAX_PART - room - start.length - MAX_FENCE - 1);
    rest = rest.slice(piece.length).replace(/^(?:\n+| )/, "");
    const part = `${start}${piece.trimEnd()}`;
    open = openFenceOf(part);
    parts.push(open === undefined ? part : `${part}\n${marksOf(open)}`);
  }
  return { parts: parts.length === 0 ? ["(no words)"] : parts, isCut: whole.isCut || rest !== "" };
}

/** The start of the text that fits, up to the best place to cut. */
function pieceOf(text: string, room: number): string {
  if (text.length <= room) {
    return text;
  }
  const head = text.slice(0, room);
  const places = [head.lastIndexOf("\n\n"), head.lastIndexOf("\n"), head.lastIndexOf(" ")];
  const place = places.find((index, rank) => index > room * (rank === 0 ? 0.6 : 0.8));
  return place === undefined ? head.replace(/[\uD800-\uDBFF]$/, "") : head.slice(0, place);
}

/** The first line of the code block that is open at the end. */
function openFenceOf(markdown: string): string | undefined {
  let open: { readonly line: string; readonly marks: string } | undefined;
  for (const [line, marks = "", words = ""] of markdown.matchAll(FENCE_LINE)) {
    if (open === undefined) {
      open = { line: line.slice(0, MAX_FENCE_LINE), marks };
    } else if (marks.startsWith(open.marks) && words.trim() === "") {
      open = undefined;
    }
  }
  return open?.line;
}

function marksOf(line: string): string {
  return /`{3,}|~{3,}/.exec(line)?.[0] ?? "```";
}
