import { type Edit, editsOf } from "./edits.ts";
import { pathOf, pathOfHeading } from "./git-path.ts";

/** The part of a line from `start` to `end` that a change touches. */
export interface Mark {
  readonly start: number;
  readonly end: number;
}

export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
  readonly oldLine: number | undefined;
  readonly newLine: number | undefined;
  readonly marks: readonly Mark[];
}

export interface Hunk {
  /** What follows the line numbers in a unified diff. */
  readonly heading: string;
  readonly lines: readonly DiffLine[];
}

export interface FileDiff {
  readonly path: string;
  readonly oldPath: string | undefined;
  readonly status: "added" | "modified" | "deleted" | "renamed";
  readonly isBinary: boolean;
  /** The lines of git's binary patch, which holds both sides of a binary file. */
  readonly binary: readonly string[];
  readonly hunks: readonly Hunk[];
}

const CONTEXT = 3;
/** Stands for the side on which a file does not exist. */
const NO_FILE = "/dev/null";

/** The change of a text as hunks with three lines around each change. `oldText` null: the file is new. */
export function hunksOf(oldText: string | null, newText: string): readonly Hunk[] {
  const lines = numbered(editsOf(linesOf(oldText ?? ""), linesOf(newText)));
  const hunks: DiffLine[][] = [];
  let lastChange = -Infinity;
  for (const [index, line] of lines.entries()) {
    if (line.sign === " ") {
      continue;
    }
    const from = Math.max(0, index - CONTEXT, lastChange + 1);
    if (index - lastChange > 2 * CONTEXT + 1 || hunks.length === 0) {
      hunks.at(-1)?.push(...lines.slice(lastChange + 1, lastChange + 1 + CONTEXT));
      hunks.push(lines.slice(from, index));
    } else {
      hunks.at(-1)?.push(...lines.slice(lastChange + 1, index));
    }
    hunks.at(-1)?.push(line);
    lastChange = index;
  }
  hunks.at(-1)?.push(...lines.slice(lastChange + 1, lastChange + 1 + CONTEXT));
  return hunks.map((hunk) => ({ heading: "", lines: withMarks(hunk) }));
}

export function countsOf(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter(({ sign }) => sign === "+").length,
    removed: lines.filter(({ sign }) => sign === "-").length,
  };
}

/** `@@ -38,5 +38,7 @@`. */
export function rangeOf({ lines }: Hunk): string {
  const olds = lines.flatMap(({ oldLine }) => oldLine ?? []);
  const news = lines.flatMap(({ newLine }) => newLine ?? []);
  return `@@ -${olds[0] ?? 0},${olds.length} +${news[0] ?? 0},${news.length} @@`;
}

/** One row of two columns. A line that stays the same stands in both. */
export interface SplitRow {
  readonly before: DiffLine | undefined;
  readonly after: DiffLine | undefined;
}

/** The lines of a hunk in two columns. Removed lines stand beside the added lines that replace them. */
export function sideBySide(lines: readonly DiffLine[]): readonly SplitRow[] {
  const rows: SplitRow[] = [];
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push({ before: removed[index], after: added[index] });
    }
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.sign === " ") {
      flush();
      rows.push({ before: line, after: line });
    } else if (line.sign === "+") {
      added.push(line);
    } else {
      // A removed line after added ones begins another change.
      if (added.length > 0) {
        flush();
      }
      removed.push(line);
    }
  }
  flush();
  return rows;
}

/** A short text that differs when the change differs (FNV-1a). It recognizes a change; it protects nothing. */
export function fingerprintOf({ binary, hunks, oldPath = "", status }: FileDiff): string {
  const lines = hunks.flatMap((hunk) =>
    hunk.lines.map(({ newLine, sign, text }) => `${newLine}${sign}${text}`),
  );
  let hash = 0x811c9dc5;
  for (const letter of [status, oldPath, ...lines, ...binary].join("\n")) {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return `${lines.length}.${hash.toString(36)}`;
}

/** Reads a unified diff of git. */
export function parsePatch(patch: string): readonly FileDiff[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map(parseFile);
}

function parseFile(part: string): FileDiff {
  const lines = part.split("\n");
  const firstHunk = lines.findIndex((line) => line.startsWith("@@ "));
  const head = firstHunk === -1 ? lines : lines.slice(0, firstHunk);
  const value = (prefix: string) => head.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const side = (prefix: string) => {
    const path = pathOf(value(prefix) ?? NO_FILE);
    return path === NO_FILE ? undefined : path.slice("a/".length);
  };
  const [renamedFrom, renamedTo] = [value("rename from "), value("rename to ")];
  const isNew = head.some((line) => line.startsWith("new file mode"));
  const isDeleted = head.some((line) => line.startsWith("deleted file mode"));
  const binary = head.indexOf("GIT binary patch");
  return {
    path:
      renamedTo === undefined
        ? (side("+++ ") ?? side("--- ") ?? pathOfHeading(head[0] ?? ""))
        : pathOf(renamedTo),
    oldPath: renamedFrom === undefined ? undefined : pathOf(renamedFrom),
    status: isNew ? "added" : isDeleted ? "deleted" : renamedFrom === undefined ? "modified" : "renamed",
    isBinary: binary !== -1 || head.some((line) => line.startsWith("Binary files ")),
    binary: binary === -1 ? [] : head.slice(binary + 1),
    hunks: firstHunk === -1 ? [] : parseHunks(lines.slice(firstHunk)),
  };
}

function parseHunks(lines: readonly string[]): readonly Hunk[] {
  const hunks: { heading: string; lines: DiffLine[] }[] = [];
  let [oldLine, newLine] = [0, 0];
  for (const line of lines) {
    const [, oldStart, newStart, heading] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line) ?? [];
    if (oldStart !== undefined && newStart !== undefined) {
      [oldLine, newLine] = [Number(oldStart), Number(newStart)];
      hunks.push({ heading: heading ?? "", lines: [] });
      continue;
    }
    const sign = line[0];
    if (sign !== "+" && sign !== "-" && sign !== " ") {
      continue;
    }
    const common = { sign, text: line.slice(1), marks: [] } as const;
    hunks.at(-1)?.lines.push({
      ...common,
      oldLine: sign === "+" ? undefined : oldLine++,
      newLine: sign === "-" ? undefined : newLine++,
    });
  }
  return hunks.map((hunk) => ({ ...hunk, lines: withMarks(hunk.lines) }));
}

function linesOf(text: string): readonly string[] {
  if (text === "") {
    return [];
  }
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function numbered(edits: readonly Edit[]): readonly DiffLine[] {
  let [oldLine, newLine] = [1, 1];
  return edits.map(({ sign, text }) => ({
    sign,
    text,
    oldLine: sign === "+" ? undefined : oldLine++,
    newLine: sign === "-" ? undefined : newLine++,
    marks: [],
  }));
}

/** Lines beyond this length have no marks. */
const MARKED_LENGTH_MAX = 500;
/** Lines that share less than this part of their words are different lines, not a changed one. */
const SHARED_MIN = 0.3;

/** Longer runs of changed lines are compared line by line only near their place. */
const COMPARED_LINES = 20;

/** Marks the words that differ between a removed line and the added line that is most like it. */
function withMarks(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  for (let index = 0; index < lines.length; ) {
    const removed = runOf(lines, index, "-");
    const added = runOf(lines, index + removed, "+");
    const firstAdded = index + removed;
    let next = firstAdded;
    for (let old = index; old < firstAdded; old += 1) {
      const best = mostAlike(lines, old, next, Math.min(firstAdded + added, next + COMPARED_LINES));
      const [before, after] = [lines[old], best && lines[best.place]];
      if (best !== undefined && before && after) {
        marked[old] = { ...before, marks: best.marks.removed };
        marked[best.place] = { ...after, marks: best.marks.added };
        next = best.place + 1;
      }
    }
    index += Math.max(1, removed + added);
  }
  return marked;
}

interface Likeness {
  readonly shared: number;
  readonly removed: readonly Mark[];
  readonly added: readonly Mark[];
}

function mostAlike(
  lines: readonly DiffLine[],
  old: number,
  from: number,
  to: number,
): { readonly place: number; readonly marks: Likeness } | undefined {
  let best: { readonly place: number; readonly marks: Likeness } | undefined;
  for (let place = from; place < to; place += 1) {
    const marks = marksOf(lines[old]?.text ?? "", lines[place]?.text ?? "");
    if (marks !== undefined && marks.shared > (best?.marks.shared ?? 0)) {
      best = { place, marks };
    }
  }
  return best;
}

function runOf(lines: readonly DiffLine[], start: number, sign: DiffLine["sign"]): number {
  let end = start;
  while (lines[end]?.sign === sign) {
    end += 1;
  }
  return end - start;
}

function marksOf(before: string, after: string): Likeness | undefined {
  if (before.length > MARKED_LENGTH_MAX || after.length > MARKED_LENGTH_MAX) {
    return undefined;
  }
  const edits = editsOf(wordsOf(before), wordsOf(after));
  const same = edits.reduce((sum, { sign, text }) => sum + (sign === " " ? text.trim().length : 0), 0);
  const shared = same / Math.max(before.trim().length, after.trim().length, 1);
  return shared < SHARED_MIN
    ? undefined
    : { shared, removed: placesOf(edits, "-"), added: placesOf(edits, "+") };
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\w+|\s+|[^\w\s]/gu) ?? [];
}

function placesOf(edits: readonly Edit[], sign: "+" | "-"): readonly Mark[] {
  const marks: { start: number; end: number }[] = [];
  let place = 0;
  for (const edit of edits) {
    if (edit.sign !== sign && edit.sign !== " ") {
      continue;
    }
    const end = place + edit.text.length;
    const last = marks.at(-1);
    if (edit.sign === sign && last?.end === place) {
      last.end = end;
    } else if (edit.sign === sign) {
      marks.push({ start: place, end });
    }
    place = end;
  }
  return marks;
}
