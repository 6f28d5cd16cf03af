import type { Entry } from "../conversation/entries.ts";
import { isFailed, viewOf } from "../conversation/tool-call.ts";
import { type Surroundings, textsOf } from "./entry-texts.ts";

/** The kinds of entries that a reader looks for. An empty value: all. */
export const KINDS = [
  { value: "", name: "Everything" },
  { value: "failures", name: "Failures" },
  { value: "questions", name: "Questions" },
  { value: "files", name: "Files" },
  { value: "pulls", name: "Pull requests" },
] as const;
export type Kind = (typeof KINDS)[number]["value"];

export interface Query {
  readonly text: string;
  readonly kind: Kind;
}

/** An entry that was found. `excerpt`: the words around the first match; the second part is the match. */
export interface Match {
  readonly key: string;
  readonly seq: number;
  readonly excerpt: readonly [before: string, match: string, after: string] | undefined;
}

/**
 * A search for the entries of a query. It looks at each entry once, because a log is searched again with each page of it
 * and with each new event.
 */
export function searchFor(
  query: Query,
  surroundings: Surroundings,
): (entries: readonly Entry[]) => readonly Match[] {
  const pattern = patternOf(query.text);
  const seen = new WeakMap<Entry, Match | null>();
  const look = (entry: Entry): Match | null => {
    if (!isOfKind(entry, query.kind)) {
      return null;
    }
    const { key, seq } = entry;
    if (pattern === undefined) {
      return query.kind === "" ? null : { key, seq, excerpt: undefined };
    }
    for (const text of textsOf(entry, surroundings)) {
      const match = pattern.exec(text);
      if (match !== null) {
        return { key, seq, excerpt: excerptOf(text, match.index, match[0]) };
      }
    }
    return null;
  };
  return (entries) =>
    entries.flatMap((entry) => {
      let match = seen.get(entry);
      if (match === undefined) {
        match = look(entry);
        seen.set(entry, match);
      }
      return match ?? [];
    });
}

/** Letters of any case, and any white space where the reader typed some. Undefined: the text is empty. */
function patternOf(text: string): RegExp | undefined {
  const words = text.trim().split(/\s+/);
  return words[0] === ""
    ? undefined
    : new RegExp(words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+"), "iu");
}

const AROUND = 60;

function excerptOf(text: string, index: number, match: string): Match["excerpt"] {
  const end = index + match.length;
  const before = text.slice(Math.max(0, index - AROUND), index);
  return [
    index > AROUND ? `…${before}` : before,
    match,
    text.length > end + AROUND ? `${text.slice(end, end + AROUND)}…` : text.slice(end),
  ];
}

function isOfKind(entry: Entry, kind: Kind): boolean {
  switch (kind) {
    case "":
      return true;
    case "failures":
      return isFailed(entry);
    case "questions":
      return entry.kind === "question" || entry.kind === "approval";
    case "files":
      return isOfFile(entry);
    case "pulls":
      return entry.kind === "artifact" && entry.artifact.type === "PULL_REQUEST";
    default:
      return kind satisfies never;
  }
}

const CHANGING: ReadonlySet<string> = new Set(["edit", "delete", "move"]);

/** A file that the run gives out, or a call that changes one. */
function isOfFile(entry: Entry): boolean {
  if (entry.kind === "artifact") {
    return entry.artifact.type === "FILE" || entry.artifact.type === "SCREENSHOT";
  }
  return entry.kind === "tool" && (CHANGING.has(entry.toolKind ?? "") || viewOf(entry).changes.length > 0);
}
